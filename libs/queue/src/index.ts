export type { BacklogLimits, BacklogState } from './backlog.js';
export * from './caller-digest.js';
export * from './create-queue.js';
export * from './failed-jobs.js';
export * from './job-worker.js';
export * from './queue-settings.js';
export * from './redis.js';
export { parseRedisUrl } from './redis-url.js';
export * from './reply-channel.js';
