import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { heapBytesOf, settledWithin, splitByBytes, throttle, type Logger } from '@app/runtime';
import { Job, Queue, UnrecoverableError, Worker, type JobJson, type JobsOptions } from 'bullmq';
import { traceBatch } from './job-spans.js';
import { CREATE_JOB_OPTIONS, keyPrefix, LOCK_MS, READER_OPTIONS, WORKER_OPTIONS } from './queue-settings.js';
import { reconnectIfUnresponsive, redisResponds, type RedisConnection } from './redis.js';
import { isUnreadable } from './unreadable-job.js';

/** Where the jobs come from. A batch has at most `concurrency` of them, and fewer if they have priorities. */
export interface JobSource {
  redis: RedisConnection;
  queue: string;
  queuePrefix: string;
  concurrency: number;
}

/** The outcome of a job. A failed job is retried while it has attempts left; the other outcomes use up no attempt. */
export type JobOutcome =
  { kind: 'done' } | { kind: 'failed'; error: Error } | { kind: 'wait' } | { kind: 'delay'; ms: number };

/** Callbacks for the jobs that were taken. */
export interface JobHandlers {
  /** Processes a batch and returns the outcome of each job, in job order. If it throws, all of them have failed. */
  process: (jobs: readonly Job[]) => Promise<readonly JobOutcome[]>;
  /** Called for each job that has failed permanently. */
  onFailed: (job: Job, error: Error) => void;
}

/** Maximum bytes of job data in one batch, as estimated by {@link heapBytesOf}. */
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
/**
 * Maximum number of jobs in a batch if they have priorities. Sellers share the queue then, and the job of a seller who
 * has few of them waits until the batch in progress is finished.
 */
const MAX_PRIORITIZED = 32;
/**
 * How many jobs are taken, or fetched by completing others, at the same time. Limits how far they can exceed
 * {@link MAX_BATCH_BYTES}: the size of a job is known only after it is taken.
 */
const TAKE_AT_ONCE = 16;

/**
 * Error replies with which Redis refuses commands until it recovers, or until the user's permissions are corrected.
 * BullMQ would retry them in a busy loop. Before version 7, Redis wraps the error reply of a command in a script:
 * `ERR Error running script (…): … -OOM …`. Version 7 has other words for a missing permission in a script.
 */
const REFUSED_BY_REDIS =
  /(?:^| -)(OOM|LOADING|READONLY|NOREPLICAS|MISCONF|MASTERDOWN|CLUSTERDOWN|BUSY|NOPERM)\b|user executing the script can't|ACL failure/;
const PAUSE_MS = 300;
const POLL_EVERY_MS = 50;
/** Time limit for each step of closing, because Redis may be unavailable. */
const CLOSE_WITHIN_MS = 500;

/**
 * Takes jobs in batches, and none while it is paused. Uses BullMQ's manual processing
 * (https://docs.bullmq.io/patterns/manually-fetching-jobs): it takes all waiting jobs at once, and completing a job
 * also fetches the next one. BullMQ's own loop would take jobs one by one.
 */
export class JobWorker {
  private worker: Worker;
  private readonly queue: Queue;
  /** Jobs that were taken and are not finished, with the bytes of their data on the heap. Their locks are renewed. */
  private readonly activeJobs = new Map<Job, number>();
  private readonly tokenPrefix = randomUUID();
  private tokens = 0;
  private running: Promise<void> | undefined;
  private renewal: NodeJS.Timeout | undefined;
  private checks: NodeJS.Timeout | undefined;
  private isBlocked = false;
  private isStopping = false;
  private pauseReason: string | undefined;
  private paused: Promise<void> | undefined;
  private readonly reportPause = throttle((reason: string) => {
    this.logger.warn({ reason }, 'taking no jobs');
  });
  private readonly reportError = throttle((fields: object) => {
    this.logger.warn(fields, 'queue error');
  });

  constructor(
    private readonly source: JobSource,
    private readonly handlers: JobHandlers,
    private readonly logger: Logger,
  ) {
    this.worker = this.newWorker();
    this.queue = new Queue(source.queue, { ...READER_OPTIONS, ...this.shared });
    this.queue.on('error', this.onError);
  }

  /** Starts to take jobs. */
  start(): void {
    this.renewal = setInterval(() => {
      // While Redis is unavailable, renewals would pile up.
      if (this.source.redis.status !== 'ready') return;
      for (const job of this.activeJobs.keys()) job.extendLock(job.token ?? '', LOCK_MS).catch(this.onError);
    }, LOCK_MS / 2);
    this.running = this.run();
    this.checks = reconnectIfUnresponsive(this.source.redis, () => this.countWaiting());
  }

  /**
   * Takes no jobs for a moment, and then until `isOver` returns true, unless the only way to find out is to take jobs
   * again. Has no effect while the worker is already paused.
   */
  pauseUntil(reason: string, isOver?: () => Promise<boolean>): void {
    if (this.pauseReason !== undefined) return;
    this.pauseReason = reason;
    const isReported = this.reportPause(reason);
    this.paused = (async () => {
      // Also if it is over at once: what made the worker pause may happen again with the same jobs.
      do await delay(PAUSE_MS);
      while (isOver !== undefined && !this.isStopping && !(await isOver()));
      this.pauseReason = undefined;
      if (isReported && isOver !== undefined) this.logger.info('taking jobs again');
    })();
  }

  /** The reason why the worker takes no jobs, or undefined if it takes them as they come. */
  get idleReason(): string | undefined {
    if (this.isStopping) return 'stopping';
    return this.pauseReason ?? (this.running === undefined ? 'not started' : undefined);
  }

  /** Returns how many jobs wait to be taken. @throws if Redis does not reply */
  async countWaiting(): Promise<number> {
    const { redis } = this.source;
    const counts = [redis.llen(this.worker.toKey('wait')), redis.zcard(this.worker.toKey('prioritized'))];
    const [first = 0, prioritized = 0] = await Promise.all(counts);
    return first + prioritized;
  }

  /** Returns whether Redis replies within `withinMs`: in a Cluster, the server that has the queue. */
  redisResponds(withinMs: number): Promise<boolean> {
    return redisResponds(this.source.redis, withinMs, () => this.countWaiting());
  }

  /** Returns whether the queue is paused, for all workers. @throws if Redis does not reply */
  isQueuePaused(): Promise<boolean> {
    return this.queue.isPaused();
  }

  /** Stops taking jobs. Those that are not finished within `graceMs` return to the queue, for another worker. */
  async close(graceMs: number): Promise<void> {
    this.isStopping = true;
    // No job is active then. Without force, closing would last as long as the blocking wait of BullMQ for a job.
    if (this.isBlocked) await settledWithin(CLOSE_WITHIN_MS, this.worker.close(true));
    const until = performance.now() + graceMs;
    while (this.activeJobs.size > 0 && performance.now() < until) await delay(POLL_EVERY_MS);
    clearInterval(this.renewal);
    clearInterval(this.checks);
    if (this.activeJobs.size > 0) this.logger.warn({ jobs: this.activeJobs.size }, 'giving unfinished jobs back');
    const returning = [...this.activeJobs.keys()].map((job) => giveBack(job));
    await settledWithin(CLOSE_WITHIN_MS, Promise.allSettled(returning));
    await settledWithin(
      CLOSE_WITHIN_MS,
      Promise.resolve(this.running).then(() => Promise.all([this.worker.close(), this.queue.close()])),
    );
  }

  /** The options of both the worker and the queue. */
  private get shared(): { connection: RedisConnection; prefix: string } {
    return { connection: this.source.redis, prefix: keyPrefix(this.source.queuePrefix) };
  }

  private newWorker(): Worker {
    const options = { ...WORKER_OPTIONS, ...this.shared, autorun: false };
    return new Worker(this.source.queue, null, options).on('error', this.onError);
  }

  /**
   * Waits until Redis has told BullMQ its version. BullMQ asks only once: if Redis refuses, for example because the user
   * lacks a permission, a worker can never take jobs, so another one is needed.
   */
  private async waitUntilReady(): Promise<void> {
    for (;;) {
      try {
        await this.worker.waitUntilReady();
        return;
      } catch (error) {
        this.onError(error);
        await Promise.all([settledWithin(CLOSE_WITHIN_MS, this.worker.close(true)), delay(PAUSE_MS)]);
        if (this.isStopping) return;
        this.worker = this.newWorker();
      }
    }
  }

  private async run(): Promise<void> {
    this.isBlocked = true;
    await this.waitUntilReady();
    this.isBlocked = false;
    void this.worker.startStalledCheckTimer();
    let next: Job[] = [];
    let emptyTakes = 0;
    while (!this.isStopping || next.length > 0) {
      await this.paused;
      if (this.isStopping && next.length === 0) break;
      this.isBlocked = next.length === 0;
      const jobs = this.isBlocked ? await this.take(1, { block: true }) : next;
      this.isBlocked = false;
      emptyTakes = jobs.length > 0 ? 0 : emptyTakes + 1;
      if (emptyTakes > 1) await this.pauseIfLimited();
      next = jobs.length > 0 ? await this.processAll(await this.fill(jobs)) : [];
    }
  }

  /** Pauses while the rate limit of the queue is reached. BullMQ then returns no job immediately, without waiting for one. */
  private async pauseIfLimited(): Promise<void> {
    const isOver = async (): Promise<boolean> => {
      const limit = await this.queue.getGlobalRateLimit();
      return limit === null || (await this.queue.getRateLimitTtl(limit.max)) <= 0;
    };
    const isLimited = !(await isOver().catch(() => true));
    if (isLimited) this.pauseUntil('the rate limit of the queue is reached', () => isOver().catch(() => false));
  }

  /** Adds waiting jobs, up to the limit of the batch and {@link MAX_BATCH_BYTES}. */
  private async fill(jobs: readonly Job[]): Promise<readonly Job[]> {
    const room = this.limitOf(jobs) - jobs.length;
    const bytes = MAX_BATCH_BYTES - this.bytesOf(jobs);
    if (room <= 0 || bytes <= 0 || this.idleReason !== undefined) return jobs;
    const waiting = await this.countWaiting().catch(() => 0);
    const taken = await this.take(Math.min(waiting, room), { block: false, bytes });
    return taken.length === 0 ? jobs : this.fill([...jobs, ...taken]);
  }

  /** Takes at most `count` jobs, and no more once they have `bytes` or the worker is paused. */
  private async take(
    count: number,
    { block, bytes = MAX_BATCH_BYTES }: { block: boolean; bytes?: number },
  ): Promise<Job[]> {
    const jobs: Job[] = [];
    let left = count;
    let room = bytes;
    const takeSome = async (): Promise<void> => {
      while (left-- > 0 && room > 0 && this.idleReason === undefined) {
        const taken = await this.takeOne({ block });
        room -= this.bytesOf(taken);
        jobs.push(...taken);
      }
    };
    const outcomes = await Promise.allSettled(Array.from({ length: Math.min(count, TAKE_AT_ONCE) }, takeSome));
    const refused = outcomes.find((outcome) => outcome.status === 'rejected');
    if (refused !== undefined && !this.isStopping) {
      this.onError(refused.reason);
      await delay(PAUSE_MS);
    }
    return jobs;
  }

  private takeOne(options: { block: boolean }): Promise<Job[]> {
    const token = `${this.tokenPrefix}:${String(this.tokens++)}`;
    return this.activate(token, () => this.worker.getNextJob(token, options));
  }

  /** Takes a job, if there is one. Fails it if it cannot be read, because no attempt ever could. */
  private async activate(token: string, take: () => Promise<Job | undefined>): Promise<Job[]> {
    try {
      const job = await take();
      if (job === undefined) return [];
      job.opts = withoutNulls(job.opts);
      this.activeJobs.set(job, heapBytesOf(JSON.stringify(job.data)));
      return [job];
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      const toKey = (name: string): string => this.worker.toKey(name);
      const id = await this.source.redis.eval(FIND_LOCKED, 2, toKey('active'), toKey(''), token);
      if (typeof id !== 'string') throw error;
      const reason = error instanceof SyntaxError ? 'The job is not JSON' : 'The job cannot be read';
      const job = new Job(this.worker, 'unreadable', null, CREATE_JOB_OPTIONS, id);
      job.token = token;
      await this.end(job, { kind: 'failed', error: new UnrecoverableError(reason) });
      return [];
    }
  }

  /**
   * Processes jobs, and returns the next ones, which were fetched by completing the last batch of these. Earlier ones
   * fetch none: if the worker then paused, it would keep jobs that other workers could do.
   */
  private async processAll(jobs: readonly Job[]): Promise<Job[]> {
    const limit = this.limitOf(jobs);
    let next: Job[] = [];
    const batches = splitByBytes(jobs, (job) => this.bytesOf([job]), MAX_BATCH_BYTES);
    for (const batch of batches) {
      const failed = (error: unknown): JobOutcome[] => batch.map(() => ({ kind: 'failed', error: error as Error }));
      const outcomes = await traceBatch(this.source.queue, batch, () => this.handlers.process(batch)).catch(failed);
      next = await this.endAll(batch, outcomes, batch === batches.at(-1) ? limit : 0);
    }
    return next;
  }

  /** Finishes the jobs of a batch, and fetches at most `limit` others, up to {@link MAX_BATCH_BYTES}. Returns these. */
  private async endAll(batch: readonly Job[], outcomes: readonly JobOutcome[], limit: number): Promise<Job[]> {
    const next: Job[] = [];
    let room = MAX_BATCH_BYTES;
    const remaining = batch.entries();
    const endSome = async (): Promise<void> => {
      for (const [index, job] of remaining) {
        const fetchNext = index < limit && room > 0;
        const fetched = await this.end(job, outcomes[index] ?? { kind: 'done' }, { fetchNext });
        room -= this.bytesOf(fetched);
        next.push(...fetched);
      }
    };
    await Promise.all(Array.from({ length: TAKE_AT_ONCE }, endSome));
    return next;
  }

  /**
   * Finishes a job and returns the one that was fetched with this, if any. If Redis refuses, the job is taken again after
   * its lock expires, and its stored item is found.
   */
  private async end(job: Job, outcome: JobOutcome, { fetchNext = false } = {}): Promise<Job[]> {
    const { token = '' } = job;
    try {
      if (outcome.kind === 'wait') await giveBack(job);
      if (outcome.kind === 'delay') await job.moveToDelayed(Date.now() + outcome.ms, token);
      if (outcome.kind === 'failed') await job.moveToFailed(outcome.error, token, false);
      // A job without `finishedOn` will be retried.
      if (outcome.kind === 'failed' && job.finishedOn !== undefined) this.handlers.onFailed(job, outcome.error);
      if (outcome.kind !== 'done') return [];
      const isNextTaken = fetchNext && this.idleReason === undefined;
      return await this.activate(token, async () =>
        this.toJob(await job.moveToCompleted(undefined, token, isNextTaken), token),
      );
    } catch (error) {
      this.onError(error);
      return [];
    } finally {
      this.activeJobs.delete(job);
    }
  }

  /** Creates the job that BullMQ fetched when another was completed, from its data and id, if there is one. */
  private toJob(taken: unknown, token: string): Job | undefined {
    const [json, id] = Array.isArray(taken) ? (taken as [JobJson | null, string]) : [null, ''];
    if (!json) return undefined;
    const job = Job.fromJSON(this.worker, json, id);
    job.token = token;
    return job;
  }

  /** Returns how many jobs a batch that begins with these may have. */
  private limitOf([first]: readonly Job[]): number {
    const { concurrency } = this.source;
    return first !== undefined && first.priority > 0 ? Math.min(concurrency, MAX_PRIORITIZED) : concurrency;
  }

  private bytesOf(jobs: readonly Job[]): number {
    return jobs.reduce((sum, job) => sum + (this.activeJobs.get(job) ?? 0), 0);
  }

  private readonly onError = (error: unknown): void => {
    const { message } = error as Error;
    // The connection reports such errors itself.
    const isConnectionError = 'syscall' in (error as Error) || message === 'Connection is closed.';
    if (this.isStopping || isConnectionError) return;
    const isRefused = REFUSED_BY_REDIS.test(message);
    if (isRefused) this.pauseUntil('Redis refuses commands');
    // A refusal says all there is to know. Any other error may be a mistake, which its stack helps to find.
    this.reportError(isRefused ? { error: message } : { err: error });
  };
}

/** Returns the id of the active job whose lock has a token. BullMQ throws without the id if it cannot parse a job. */
const FIND_LOCKED = `
for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if redis.call('GET', KEYS[2] .. id .. ':lock') == ARGV[1] then return id end
end
return false
`;

/**
 * Returns options without those that are null, which another program may write for options that are not set. BullMQ's
 * script would release the lock of such a job, and then neither complete nor fail it.
 */
function withoutNulls(options: JobsOptions): JobsOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null));
}

/** Returns a job to the queue. BullMQ wakes no worker for one with a priority, unless it was delayed. */
async function giveBack(job: Job): Promise<void> {
  const { token = '', priority } = job;
  if (priority > 0) await job.moveToDelayed(Date.now(), token);
  else await job.moveToWait(token);
}
