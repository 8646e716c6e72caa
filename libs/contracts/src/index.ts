export * from './create-item.js';
export * from './create-job.js';
export * from './error-schema.js';
export * from './errors.js';
export * from './exact-json.js';
export { categoryNumber, exactNumber, text, wholeNumber } from './fields.js';
export * from './get-all.js';
export * from './get-by-id.js';
export * from './item.js';
