export * from './item-creator.js';
export { itemIdForKey } from './item-id.js';
export * from './item-size.js';
export * from './new-item-record.js';
export * from './request-hash.js';
export * from './search-backfill.js';
export * from './search-terms.js';
export { itemSlug } from './slug.js';
