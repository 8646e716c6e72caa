import type { JobsOptions, WorkerOptions } from 'bullmq';

/** Names of the queues. */
export const CREATE_QUEUE = 'item-create';
export const MAINTENANCE_QUEUE = 'maintenance';

/** Prefix of all keys in Redis; the braces keep them on one node of a Redis Cluster. */
export function keyPrefix(queuePrefix: string): string {
  return `{${queuePrefix}}`;
}

/**
 * How a create job is kept and tried again. Completed jobs stay only long enough to catch a
 * repeated add, and each that completes removes no more than a few older ones: Redis would stand still for as long as it
 * takes to remove what a burst has left behind. Failed ones stay until an operator discards them.
 */
export const CREATE_JOB_OPTIONS = {
  // Four waits, some 5 s together: a poisoned create is given up while its client still waits.
  attempts: 5,
  backoff: { type: 'exponential', delay: 400, jitter: 0.5 },
  removeOnComplete: { age: 120, count: 20_000, limit: 3 },
  removeOnFail: false,
} satisfies JobsOptions;

/**
 * How a worker holds its jobs. A job whose worker died is taken over after `lockDuration` and up to
 * two `stalledInterval`s. Taking over is no failure: with BullMQ's default `maxStalledCount` of 1 a
 * job whose item is stored could end in `failed`.
 */
export const WORKER_OPTIONS = {
  lockDuration: 5000,
  stalledInterval: 2000,
  maxStalledCount: 1_000_000,
  runRetryDelay: 500,
  drainDelay: 5,
  // Counts completed jobs, from which producers tell how fast the queue drains.
  metrics: { maxDataPoints: 1 },
} satisfies Partial<WorkerOptions>;
