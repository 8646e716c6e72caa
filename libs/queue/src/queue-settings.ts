import type { JobsOptions, WorkerOptions } from 'bullmq';

/** Name of the create queue. */
export const CREATE_QUEUE = 'item-create';

/** Returns the prefix of all keys in Redis. The braces are a hash tag: it keeps the keys on one node of a Cluster. */
export function keyPrefix(queuePrefix: string): string {
  return `{${queuePrefix}}`;
}

/** How many failed jobs are kept: at most about 32 MiB by default. Beyond that, the oldest is removed. */
export const MAX_FAILED_JOBS = 500;

/**
 * How create jobs are retried and kept. A completed job is removed: the item in MongoDB is the record. A failed job is
 * kept until it is retried or discarded, or until {@link MAX_FAILED_JOBS} others have failed after it.
 */
export const CREATE_JOB_OPTIONS = {
  // Four delays, 3 to 6 s in total: a create that always fails is given up while its client still waits.
  attempts: 5,
  // By default, BullMQ keeps the errors of all attempts. A client may repeat a create that always fails without end.
  stackTraceLimit: 5,
  backoff: { type: 'exponential', delay: 400, jitter: 0.5 },
  removeOnComplete: true,
  removeOnFail: { count: MAX_FAILED_JOBS },
} satisfies JobsOptions;

/** How long a job's lock lasts without being renewed. */
export const LOCK_MS = 5000;

/**
 * How a worker locks its jobs. If a worker dies, another one takes over its jobs after {@link LOCK_MS} and up to two
 * `stalledInterval`s. A takeover must not count as a failure: with BullMQ's default `maxStalledCount` of 1, a job whose
 * item is stored could end in `failed`.
 */
export const WORKER_OPTIONS = {
  lockDuration: LOCK_MS,
  stalledInterval: 2000,
  maxStalledCount: 1_000_000,
  // Counts finished jobs, from which producers compute how fast the queue drains.
  metrics: { maxDataPoints: 1 },
  // For jobs of other programs. Without it, BullMQ could not fail a job whose strategy it does not know.
  settings: { backoffStrategy: () => CREATE_JOB_OPTIONS.backoff.delay },
} satisfies Partial<WorkerOptions>;

/** Options of a process that reads the queue: the API owns its settings. */
export const READER_OPTIONS = { skipVersionCheck: true, skipMetasUpdate: true } as const;
