export * from './admin-server.js';
export * from './health.controller.js';
