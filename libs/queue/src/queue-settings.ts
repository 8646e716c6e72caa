import type { JobsOptions, WorkerOptions } from 'bullmq';

/** Name of the queue of creates. */
export const CREATE_QUEUE = 'item-create';

/** Prefix of all keys in Redis; the braces keep them on one node of a Redis Cluster. */
export function keyPrefix(queuePrefix: string): string {
  return `{${queuePrefix}}`;
}

/** Failed jobs that are kept, 128 MiB of the largest; each that fails beyond them removes the oldest. */
export const MAX_FAILED_JOBS = 2000;

/**
 * How a create job is tried again and kept. A completed one is removed at once: the item in MongoDB is the record. A
 * failed one stays, with its data, until an operator retries or discards it, or until {@link MAX_FAILED_JOBS} others have
 * failed after it.
 */
export const CREATE_JOB_OPTIONS = {
  // Four waits, some 5 s together: a poisoned create is given up while its client still waits.
  attempts: 5,
  backoff: { type: 'exponential', delay: 400, jitter: 0.5 },
  removeOnComplete: true,
  removeOnFail: { count: MAX_FAILED_JOBS },
} satisfies JobsOptions;

/** How long a worker holds a job without renewing its lock. */
export const LOCK_MS = 5000;

/**
 * How a worker holds its jobs. A job whose worker died is taken over after {@link LOCK_MS} and up to
 * two `stalledInterval`s. Taking over is no failure: with BullMQ's default `maxStalledCount` of 1 a
 * job whose item is stored could end in `failed`.
 */
export const WORKER_OPTIONS = {
  lockDuration: LOCK_MS,
  stalledInterval: 2000,
  maxStalledCount: 1_000_000,
  // Counts completed jobs, from which producers tell how fast the queue drains.
  metrics: { maxDataPoints: 1 },
} satisfies Partial<WorkerOptions>;
