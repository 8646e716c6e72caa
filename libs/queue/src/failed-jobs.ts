import { ErrorCode, Job, Queue } from 'bullmq';
import { CREATE_QUEUE, keyPrefix, READER_OPTIONS } from './queue-settings.js';
import { isWrongValue, type RedisConnection } from './redis.js';
import { isUnreadable } from './unreadable-job.js';

/** A job that workers have given up on. */
export interface FailedJob {
  id: string;
  failedAt: Date;
  /** The number of tries. Null if the job cannot be read. */
  attempts: number | null;
  /** The message of the last error. */
  reason: string;
  /** The stacks of the last errors. */
  stacks: string[];
  /** As it was queued, including the item. Null if the job cannot be read. */
  data: unknown;
}

/**
 * The outcome of an operation on a job. Unless it is `done`, the operation has neither queued nor removed the job. If
 * another process retries it at the same moment, it may be `not failed`, and yet no longer count the workers that died.
 */
export type ChangeOutcome = 'done' | 'not failed' | 'unreadable';

/** Finds, retries and discards the failed jobs of the create queue. Methods throw if Redis does not reply. */
export class FailedJobs {
  /** The create queue, for reading. */
  readonly queue: Queue;

  constructor(
    private readonly redis: RedisConnection,
    queuePrefix: string,
  ) {
    this.queue = new Queue(CREATE_QUEUE, { ...READER_OPTIONS, connection: redis, prefix: keyPrefix(queuePrefix) });
    // Calls report their own errors. Without a listener, the process would crash.
    this.queue.on('error', () => undefined);
  }

  /** Returns the ids of all failed jobs, beginning with the one that failed last. */
  async findIds(): Promise<string[]> {
    return this.queue.getRanges(['failed'], 0, -1);
  }

  /** Returns a job, or undefined if it has not failed. */
  async findById(id: string): Promise<FailedJob | undefined> {
    const job = await readable(this.queue.getJob(id));
    const failedAt = await this.failedAt(id);
    if (failedAt === undefined) return undefined;
    return {
      id,
      failedAt,
      attempts: job?.attemptsMade ?? null,
      // BullMQ leaves out an empty message.
      reason: job === undefined ? UNREADABLE : job.failedReason || '',
      stacks: job?.stacktrace ?? [],
      data: (job?.data ?? null) as unknown,
    };
  }

  /**
   * Returns a job in any state, with no data if it cannot be read. Its methods `retry` and `remove` are {@link retry} and
   * {@link discard}, and throw if nothing has changed.
   */
  async findJob(id: string): Promise<Job | undefined> {
    const job = (await readable(this.queue.getJob(id))) ?? (await this.unreadableJob(id));
    return (
      job &&
      Object.assign(job, {
        retry: async () => {
          assertDone(id, await this.retry(id));
        },
        remove: async () => {
          assertDone(id, await this.discard(id));
        },
      })
    );
  }

  /** Queues a job again, with its full number of attempts, and as if no worker had died of it. */
  async retry(id: string): Promise<ChangeOutcome> {
    const job = await readable(this.queue.getJob(id));
    if ((await this.failedAt(id)) === undefined) return 'not failed';
    if (job === undefined) return 'unreadable';
    try {
      // Workers count such deaths in the progress of the job.
      await job.updateProgress(0);
      await job.retry('failed', { resetAttemptsMade: true });
      return 'done';
    } catch (error) {
      if (isNotFailed(error)) return 'not failed';
      throw error;
    }
  }

  /** Removes a job, readable or not. */
  async discard(id: string): Promise<ChangeOutcome> {
    const removed = await this.redis.eval(DISCARD, 2, this.queue.toKey('failed'), this.queue.toKey(id), id);
    return removed === 1 ? 'done' : 'not failed';
  }

  async close(): Promise<void> {
    await this.queue.close();
    this.redis.disconnect();
  }

  private async unreadableJob(id: string): Promise<Job | undefined> {
    if ((await this.queue.getJobState(id)) === 'unknown') return undefined;
    const job = new Job(this.queue, 'unreadable', null, {}, id);
    job.failedReason = UNREADABLE;
    return job;
  }

  private async failedAt(id: string): Promise<Date | undefined> {
    const time = await this.redis.zscore(this.queue.toKey('failed'), id);
    return time === null ? undefined : new Date(Number(time));
  }
}

/** Unlike `Job.remove()`, never removes a job that another process has retried in the meantime. */
const DISCARD = `
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('DEL', KEYS[2], KEYS[2] .. ':logs')
return 1
`;

const UNREADABLE = 'The job cannot be read: it is missing, or another program has written it';

function assertDone(id: string, outcome: ChangeOutcome): void {
  if (outcome !== 'done') throw new Error(`Job ${id} is unchanged: it is ${outcome}`);
}

/** Returns whether BullMQ has not retried a job because it has not failed, or does not exist. */
function isNotFailed(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === ErrorCode.JobNotInState || error.code === ErrorCode.JobNotExist;
}

/** Returns undefined if the job has parts that are not JSON or nested too deeply, or its key is not a hash. */
async function readable(reading: Promise<Job | undefined>): Promise<Job | undefined> {
  try {
    const job = await reading;
    // Throws if nobody could show its data.
    JSON.stringify(job?.data);
    return job;
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    if (isWrongValue(error)) return undefined;
    throw error;
  }
}
