import { CREATE_JOB_VERSION, type CreateJob } from '@app/contracts';
import { Queue } from 'bullmq';
import { ReplyError } from 'ioredis';
import { CREATE_JOB_OPTIONS, CREATE_QUEUE, keyPrefix } from './queue-settings.js';
import { reconnectAfterSilence, redisAnswers, type RedisConnection } from './redis.js';

/** What became of an attempt to queue a job: `refused` is certain, after `unknown` it may be queued. */
export type Enqueued = 'queued' | 'refused' | 'unknown';

/** The producer's end of the queue of creates. */
export class CreateQueue {
  private readonly queue: Queue;

  constructor(
    private readonly redis: RedisConnection,
    queuePrefix: string,
  ) {
    this.queue = new Queue(CREATE_QUEUE, {
      connection: redis,
      prefix: keyPrefix(queuePrefix),
      // Nobody reads the event stream: replies have their own channel.
      streams: { events: { maxLen: 1000 } },
      // BullMQ asks for the version once; were Redis to go away just then, every add would fail for ever.
      skipVersionCheck: true,
    });
    this.queue.on('error', () => undefined);
  }

  /** Whether Redis answers within `withinMs`. */
  async answers(withinMs: number): Promise<boolean> {
    return redisAnswers(this.redis, withinMs);
  }

  /** Queues the job under its item's id; a job that is there already stays as it is. */
  async add(job: Omit<CreateJob, 'version'>): Promise<Enqueued> {
    if (this.redis.status !== 'ready') return 'refused';
    try {
      await this.queue.add('create', { version: CREATE_JOB_VERSION, ...job }, { ...CREATE_JOB_OPTIONS, jobId: job.id });
      return 'queued';
    } catch (error) {
      reconnectAfterSilence(this.redis, error);
      return wasNeverRun(error) ? 'refused' : 'unknown';
    }
  }

  /** Those of the jobs that have failed for good. */
  async findFailed(ids: readonly string[]): Promise<string[]> {
    const failedAt = await this.redis.zmscore(this.queue.toKey('failed'), ...ids);
    return ids.filter((_, index) => failedAt[index] !== null);
  }

  async close(): Promise<void> {
    await this.queue.close();
    this.redis.disconnect();
  }
}

const NEVER_WRITTEN = /^(?:Stream isn't writeable|Cluster isn't ready)/;

/** Redis answered that it did not run the command, or the command was never written to it. */
function wasNeverRun(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error instanceof ReplyError || NEVER_WRITTEN.test(error.message);
}
