export * from './config.js';
export * from './logger.js';
export * from './run.js';
export * from './provide.js';
export * from './health.js';
