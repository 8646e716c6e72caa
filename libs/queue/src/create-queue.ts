import { CREATE_JOB_VERSION, parseCreateJob, type CreateJob } from '@app/contracts';
import { Queue } from 'bullmq';
import { ReplyError } from 'ioredis';
import { Backlog, type BacklogLimits, type Refusal } from './backlog.js';
import { FairShares } from './fair-shares.js';
import { traceSend } from './job-spans.js';
import { CREATE_JOB_OPTIONS, CREATE_QUEUE, keyPrefix } from './queue-settings.js';
import { reportRefusal, untilReady, type RedisConnection, type Report } from './redis.js';

/** The outcome of adding a job. After `refused` it is certainly not queued; after `unknown` it may be. */
export type EnqueueResult = 'queued' | 'refused' | 'unknown';

/** A job in the queue. */
export interface ExistingJob {
  /** Hash of the queued request, or undefined if no item can ever be stored from the job's data. */
  requestHash: string | undefined;
  hasFailed: boolean;
  /** JSON, exactly as stored in Redis. Undefined if the job has failed and Redis has lost its data. */
  data: string | undefined;
}

/** The data of a create job, without the version that the queue adds. */
export type NewJob = Omit<CreateJob, 'version'>;

/** How much may wait in the queue. */
export interface QueueLimits {
  total: BacklogLimits;
  /** For each seller. Undefined means that sellers are not told apart: first in, first out. */
  seller: BacklogLimits | undefined;
}

/** What is known of a create before it is queued. */
export interface AdmissionRequest {
  sellerId: string;
  bytes: number;
  /** How long its client waits, or undefined if it does not. */
  waitMs: number | undefined;
}

/** Whether a create may be queued, and with which priority. Undefined means first in, first out. */
export type Admission = { kind: 'admitted'; priority: number | undefined } | ({ kind: 'refused' } & Refusal);

/** The producer side of the create queue. */
export class CreateQueue {
  readonly backlog: Backlog;
  private readonly queue: Queue;
  private readonly shares: FairShares | undefined;

  constructor(
    private readonly redis: RedisConnection,
    queuePrefix: string,
    limits: QueueLimits,
    private readonly report: Report = () => undefined,
  ) {
    this.queue = new Queue(CREATE_QUEUE, {
      connection: redis,
      prefix: keyPrefix(queuePrefix),
      // Nothing reads the event stream, because replies have their own channel.
      streams: { events: { maxLen: 1000 } },
      // BullMQ checks the version only once. If Redis became unavailable at that moment, every later add would fail.
      skipVersionCheck: true,
    });
    this.queue.on('error', () => undefined);
    const toKey = (name: string): string => this.queue.toKey(name);
    this.backlog = new Backlog(redis, toKey, limits.total, report);
    this.shares = limits.seller && new FairShares(redis, toKey, { ...limits, seller: limits.seller }, report);
  }

  /** Resolves once the connection can send commands. */
  waitUntilReady(): Promise<void> {
    return untilReady(this.redis);
  }

  /** Reserves a place in the queue, or returns why there is none and when to retry. @throws if Redis does not reply */
  async admit({ sellerId, bytes, waitMs }: AdmissionRequest): Promise<Admission> {
    const full = await this.backlog.admit(bytes, waitMs);
    if (full !== undefined) return { kind: 'refused', ...full };
    const place = await this.shares?.place(sellerId, bytes);
    if (this.shares !== undefined && place === undefined) {
      this.backlog.release(bytes);
      return { kind: 'refused', ...this.backlog.refuseSeller() };
    }
    const refusal = this.backlog.refuseWait(waitMs, place?.ahead);
    if (refusal === undefined) return { kind: 'admitted', priority: place?.priority };
    this.release({ sellerId, bytes });
    return { kind: 'refused', ...refusal };
  }

  /** Takes back an admission: the job is not added after all. */
  release({ sellerId, bytes }: Omit<AdmissionRequest, 'waitMs'>): void {
    this.backlog.release(bytes);
    void this.shares?.release(sellerId, bytes);
  }

  /** Adds the job under the id of its item. An existing job with this id stays unchanged. */
  async add(job: NewJob, priority?: number): Promise<EnqueueResult> {
    if (this.redis.status !== 'ready') return 'refused';
    return traceSend(CREATE_QUEUE, (traceparent) => this.addData(job.id, dataOf(job, traceparent), priority));
  }

  /** Adds a job that Redis has lost: BullMQ would ignore it if only its place in a list is lost. */
  async addAgain(job: NewJob, priority?: number): Promise<EnqueueResult> {
    const removed = await this.removeLost(job.id);
    return removed === 'unknown' ? removed : this.add(job, priority);
  }

  /** Returns the job with this id, if there is one. @throws if Redis does not reply */
  async find(id: string): Promise<ExistingJob | undefined> {
    const finding = Promise.all([
      this.redis.hget(this.queue.toKey(id), 'data'),
      this.redis.zscore(this.queue.toKey('failed'), id),
    ]);
    const [data, failedAt] = await reportRefusal(finding, this.report);
    const hasFailed = failedAt !== null;
    if (data !== null) return { requestHash: hashIn(data, id), hasFailed, data };
    return hasFailed ? { requestHash: undefined, hasFailed, data: undefined } : undefined;
  }

  /**
   * Makes sure that a job runs: retries it with its full number of attempts if it has failed, and adds it again if it is
   * in no list, as after an add that Redis has run only in part.
   */
  async retry(id: string): Promise<EnqueueResult> {
    const job = await this.queue.getJob(id).catch(() => undefined);
    // The job has completed in the meantime, or Redis is unavailable.
    if (job === undefined) return 'unknown';
    const enqueued = await this.toEnqueueResult(job.retry('failed', { resetAttemptsMade: true }));
    if (enqueued === 'queued') return enqueued;
    const isFailed = await job.isFailed().catch(() => true);
    if (isFailed) return enqueued;
    const removed = await this.removeLost(id);
    return removed === 'removed' ? this.addData(id, job.data as CreateJob, job.priority) : removed;
  }

  /**
   * Replaces the data of a job that cannot be read, and from which no item could ever be stored, and retries the job.
   * Does not overwrite what another request has put there in the meantime.
   */
  async replace({ data }: ExistingJob, job: NewJob): Promise<EnqueueResult> {
    if (data === undefined) return this.replaceWithoutData(job);
    return traceSend(CREATE_QUEUE, async (traceparent) => {
      const replacement = JSON.stringify(dataOf(job, traceparent));
      const replacing = this.redis.eval(REPLACE_DATA, 1, this.queue.toKey(job.id), data, replacement);
      const replaced = await this.toEnqueueResult(replacing);
      if (replaced !== 'queued') return replaced;
      // Even if Redis refuses to retry it, the job now holds this request.
      return (await this.retry(job.id)) === 'queued' ? 'queued' : 'unknown';
    });
  }

  /** Returns the state of each job, in the order of the ids. @throws if Redis does not reply */
  async findStates(ids: readonly string[]): Promise<('missing' | 'failed' | 'open')[]> {
    const finding = this.redis.eval(FIND_STATES, 2, this.queue.toKey('failed'), this.queue.toKey(''), ...ids);
    const states = await reportRefusal(finding, this.report);
    return states as ('missing' | 'failed' | 'open')[];
  }

  /** Returns which of these jobs no worker will take, although their data exists. @throws if Redis does not reply */
  async findLost(ids: readonly string[]): Promise<string[]> {
    const finding = Promise.all(ids.map((id) => this.queue.getJobState(id)));
    const states = await reportRefusal(finding, this.report);
    return ids.filter((_id, index) => states[index] === 'unknown' || states[index] === 'completed');
  }

  async close(): Promise<void> {
    await this.queue.close();
    this.redis.disconnect();
  }

  private addData(id: string, data: CreateJob, priority: number | undefined): Promise<EnqueueResult> {
    const options = { jobId: id, ...CREATE_JOB_OPTIONS, ...(priority !== undefined && { priority }) };
    const adding = this.queue.add('create', data, options).catch(async (error: unknown) => {
      // Redis does not roll back a script that it stops. The data of a job that is in no list would stay forever.
      if (error instanceof ReplyError && !wasNeverRun(error)) await this.removeLost(id);
      throw error;
    });
    return this.toEnqueueResult(adding);
  }

  /** Adds the job anew, because the failed one may have lost its options as well. */
  private async replaceWithoutData(job: NewJob): Promise<EnqueueResult> {
    const keys = [this.queue.toKey('failed'), this.queue.toKey(job.id)];
    const discarded = await this.toEnqueueResult(this.redis.eval(DISCARD_WITHOUT_DATA, keys.length, ...keys, job.id));
    return discarded === 'queued' ? this.add(job) : discarded;
  }

  /** Removes a job that is in no list of a worker. A job that is in one, or does not exist, counts as queued. */
  private async removeLost(id: string): Promise<'removed' | 'queued' | 'unknown'> {
    const keys = [...SORTED_SETS, ...LISTS, 'completed', id].map((name) => this.queue.toKey(name));
    try {
      const removed = await reportRefusal(this.redis.eval(REMOVE_LOST, keys.length, ...keys, id), this.report);
      return removed === 1 ? 'removed' : 'queued';
    } catch {
      return 'unknown';
    }
  }

  private async toEnqueueResult(adding: Promise<unknown>): Promise<EnqueueResult> {
    try {
      await reportRefusal(adding, this.report);
      return 'queued';
    } catch (error) {
      return wasNeverRun(error) ? 'refused' : 'unknown';
    }
  }
}

function dataOf(job: NewJob, traceparent?: string): CreateJob {
  const data: CreateJob = { version: CREATE_JOB_VERSION, ...job };
  return traceparent === undefined ? data : { ...data, traceparent };
}

function hashIn(text: string, id: string): string | undefined {
  try {
    const data: unknown = JSON.parse(text);
    if (parseCreateJob(data, id).kind === 'invalid') return undefined;
    const { requestHash } = data as { requestHash?: unknown };
    return typeof requestHash === 'string' ? requestHash : undefined;
  } catch {
    return undefined;
  }
}

const REPLACE_DATA = `
if redis.call('HGET', KEYS[1], 'data') == ARGV[1] then redis.call('HSET', KEYS[1], 'data', ARGV[2]) end
`;

const DISCARD_WITHOUT_DATA = `
if redis.call('HEXISTS', KEYS[2], 'data') == 1 or redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
return redis.call('DEL', KEYS[2])
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

/** The keys of BullMQ that hold the ids of jobs which a worker or an operator will take. */
const SORTED_SETS = ['failed', 'delayed', 'prioritized', 'waiting-children'];
const LISTS = ['active', 'wait', 'paused'];

/** Is a script so that a job which another process has added again in the meantime is kept. */
const REMOVE_LOST = `
local sortedSets, lists = ${String(SORTED_SETS.length)}, ${String(LISTS.length)}
for index = 1, sortedSets do
  if redis.call('ZSCORE', KEYS[index], ARGV[1]) then return 0 end
end
for index = sortedSets + 1, sortedSets + lists do
  if redis.call('LPOS', KEYS[index], ARGV[1]) then return 0 end
end
redis.call('ZREM', KEYS[#KEYS - 1], ARGV[1])
return redis.call('DEL', KEYS[#KEYS])
`;

const NEVER_WRITTEN = /^(?:Stream isn't writeable|Cluster isn't ready)/;

/**
 * The error replies that Redis sends before a script has written anything. It does not roll a script back, so after
 * any other error, such as a missing permission for a command in the script, the job may be in the queue.
 */
const BEFORE_WRITES =
  /^(?:NOAUTH|WRONGPASS|NOPERM(?!.*\bscript\b)|LOADING|MASTERDOWN|CLUSTERDOWN|BUSY|TRYAGAIN)\b|(?:^| -)(?:OOM|READONLY|MISCONF|NOREPLICAS)\b/;

/** Returns whether Redis replied that it did not run the command, or the command was never sent. */
function wasNeverRun(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (error instanceof ReplyError ? BEFORE_WRITES : NEVER_WRITTEN).test(error.message);
}
