import { CREATE_JOB_VERSION, type CreateJob } from '@app/contracts';
import { Queue } from 'bullmq';
import { ReplyError } from 'ioredis';
import { Backlog, type BacklogLimits } from './backlog.js';
import { CREATE_JOB_OPTIONS, CREATE_QUEUE, keyPrefix } from './queue-settings.js';
import type { RedisConnection } from './redis.js';

/** The outcome of an attempt to queue a job: `refused` is certain, after `unknown` it may be queued. */
export type Enqueued = 'queued' | 'refused' | 'unknown';

/** A job that the queue holds under an id. */
export interface HeldJob {
  /** Of the request that was queued; undefined when the job's data cannot be read. */
  requestHash: string | undefined;
  hasFailed: boolean;
  /** As stored. */
  data: string;
}

/** A create as its producer knows it. */
export type NewJob = Omit<CreateJob, 'version'>;

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

  /** Settles once Redis can be sent commands. */
  async waitUntilReady(): Promise<void> {
    if (this.redis.status === 'ready') return;
    await new Promise((resolve) => this.redis.once('ready', resolve));
  }

  /** Queues the job under its item's id; a job that is there already stays as it is. */
  async add(job: NewJob): Promise<Enqueued> {
    if (this.redis.status !== 'ready') return 'refused';
    return toEnqueued(this.queue.add('create', dataOf(job), { ...CREATE_JOB_OPTIONS, jobId: job.id }));
  }

  /** The job under an id, if there is one. @throws when Redis does not answer */
  async find(id: string): Promise<HeldJob | undefined> {
    const [data, failedAt] = await Promise.all([
      this.redis.hget(this.queue.toKey(id), 'data'),
      this.redis.zscore(this.queue.toKey('failed'), id),
    ]);
    return data === null ? undefined : { requestHash: hashIn(data), hasFailed: failedAt !== null, data };
  }

  /** Lets a job be tried again, with all its attempts, if it has failed; one that has not is queued already. */
  async retry(id: string): Promise<Enqueued> {
    const job = await this.queue.getJob(id).catch(() => undefined);
    // Done meanwhile, or Redis is away.
    if (job === undefined) return 'unknown';
    const enqueued = await toEnqueued(job.retry('failed', { resetAttemptsMade: true }));
    if (enqueued === 'queued') return enqueued;
    const isFailed = await job.isFailed().catch(() => true);
    return isFailed ? enqueued : 'queued';
  }

  /**
   * Puts a job's data in the place of data that cannot be read, and of which nothing can ever be stored. What another
   * request has put there meanwhile stays.
   */
  async replaceData({ data }: HeldJob, job: NewJob): Promise<void> {
    await this.redis.eval(REPLACE_DATA, 1, this.queue.toKey(job.id), data, JSON.stringify(dataOf(job)));
  }

  /** The state of each job, in the order of the ids. @throws when Redis does not answer */
  async findStates(ids: readonly string[]): Promise<('missing' | 'failed' | 'open')[]> {
    const states = await this.redis.eval(FIND_STATES, 2, this.queue.toKey('failed'), this.queue.toKey(''), ...ids);
    return states as ('missing' | 'failed' | 'open')[];
  }

  async close(): Promise<void> {
    await this.queue.close();
    this.redis.disconnect();
  }
}

function dataOf(job: NewJob): CreateJob {
  return { version: CREATE_JOB_VERSION, ...job };
}

async function toEnqueued(queueing: Promise<unknown>): Promise<Enqueued> {
  try {
    await queueing;
    return 'queued';
  } catch (error) {
    return wasNeverRun(error) ? 'refused' : 'unknown';
  }
}

function hashIn(data: string): string | undefined {
  try {
    const { requestHash } = JSON.parse(data) as { requestHash?: unknown };
    return typeof requestHash === 'string' ? requestHash : undefined;
  } catch {
    return undefined;
  }
}

const REPLACE_DATA = `
if redis.call('HGET', KEYS[1], 'data') == ARGV[1] then redis.call('HSET', KEYS[1], 'data', ARGV[2]) end
`;

const FIND_STATES = `
local states = {}
for index, id in ipairs(ARGV) do
  if redis.call('EXISTS', KEYS[2] .. id) == 0 then states[index] = 'missing'
  elseif redis.call('ZSCORE', KEYS[1], id) then states[index] = 'failed'
  else states[index] = 'open' end
end
return states
`;

const NEVER_WRITTEN = /^(?:Stream isn't writeable|Cluster isn't ready)/;

/** Redis answered that it did not run the command, or the command was never written to it. */
function wasNeverRun(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error instanceof ReplyError || NEVER_WRITTEN.test(error.message);
}
