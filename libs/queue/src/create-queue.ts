import { CREATE_JOB_VERSION, type CreateJob } from '@app/contracts';
import { Queue } from 'bullmq';
import { ReplyError } from 'ioredis';
import { Backlog, type BacklogLimits } from './backlog.js';
import { CREATE_JOB_OPTIONS, CREATE_QUEUE, keyPrefix } from './queue-settings.js';
import { gatherWrites, redisAnswers, type RedisConnection } from './redis.js';

/** What became of an attempt to queue a job: `refused` is certain, after `unknown` it may be queued. */
export type Enqueued = 'queued' | 'refused' | 'unknown';

/** A job that the queue holds under an id. */
export interface HeldJob {
  /** Of the request that was queued, which under a key used twice may be another's. */
  requestHash: string | undefined;
  state: 'open' | 'completed' | 'failed';
}

/** The producer's end of the queue of creates. */
export class CreateQueue {
  readonly backlog: Backlog;
  private readonly queue: Queue;

  constructor(
    private readonly redis: RedisConnection,
    queuePrefix: string,
    limits: BacklogLimits,
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
    this.backlog = new Backlog(redis, (name) => this.queue.toKey(name), limits);
  }

  /** Whether Redis answers within `withinMs`. */
  async answers(withinMs: number): Promise<boolean> {
    return redisAnswers(this.redis, withinMs);
  }

  /** Queues the job under its item's id; a job that is there already stays as it is. */
  async add(job: Omit<CreateJob, 'version'>): Promise<Enqueued> {
    if (this.redis.status !== 'ready') return 'refused';
    gatherWrites(this.redis);
    const data = { version: CREATE_JOB_VERSION, ...job };
    return this.toEnqueued(this.queue.add('create', data, { ...CREATE_JOB_OPTIONS, jobId: job.id }));
  }

  /** The job under an id, if there is one. @throws when Redis does not answer */
  async find(id: string): Promise<HeldJob | undefined> {
    const [[data, finishedOn], failedAt] = await Promise.all([
      this.redis.hmget(this.queue.toKey(id), 'data', 'finishedOn'),
      this.redis.zscore(this.queue.toKey('failed'), id),
    ]);
    if (typeof data !== 'string') return undefined;
    const requestHash = hashIn(data);
    if (failedAt !== null) return { requestHash, state: 'failed' };
    return { requestHash, state: typeof finishedOn === 'string' ? 'completed' : 'open' };
  }

  /** Lets a failed job be tried again, with all its attempts; one that another has let is queued already. */
  async retry(id: string): Promise<Enqueued> {
    const job = await this.queue.getJob(id);
    if (job === undefined) return 'refused';
    return this.toEnqueued(job.retry('failed', { resetAttemptsMade: true }).catch(ignoreIfRun));
  }

  /** Forgets a completed job, so that its id can be queued again; another that has been since stays. */
  async forget(id: string): Promise<void> {
    await this.redis.eval(FORGET_COMPLETED, 2, this.queue.toKey('completed'), this.queue.toKey(id), id);
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

  private async toEnqueued(queueing: Promise<unknown>): Promise<Enqueued> {
    try {
      await queueing;
      return 'queued';
    } catch (error) {
      return wasNeverRun(error) ? 'refused' : 'unknown';
    }
  }
}

function hashIn(data: string): string | undefined {
  try {
    return (JSON.parse(data) as Partial<CreateJob>).requestHash;
  } catch {
    return undefined;
  }
}

/** At once: between a look and a removal the id may have been queued again. */
const FORGET_COMPLETED = "if redis.call('ZREM', KEYS[1], ARGV[1]) == 1 then redis.call('DEL', KEYS[2]) end";

const NEVER_WRITTEN = /^(?:Stream isn't writeable|Cluster isn't ready)/;

/** Redis answered that it did not run the command, or the command was never written to it. */
function wasNeverRun(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error instanceof ReplyError || NEVER_WRITTEN.test(error.message);
}

/** Any other answer than none: the job is not in `failed` any more. */
function ignoreIfRun(error: unknown): void {
  if (error instanceof Error && 'code' in error && typeof error.code === 'number') return;
  throw error;
}
