import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@app/runtime';
import { Job, Worker, type JobJson, type WorkerOptions } from 'bullmq';
import { ReplyError } from 'ioredis';
import { cutByBytes } from './cut-by-bytes.js';
import { keyPrefix, LOCK_MS, WORKER_OPTIONS } from './queue-settings.js';
import type { RedisConnection } from './redis.js';

/** Where the jobs come from; up to `concurrency` of them are taken at a time. */
export interface JobSource extends Partial<Omit<WorkerOptions, 'connection' | 'prefix' | 'autorun'>> {
  redis: RedisConnection;
  queue: string;
  queuePrefix: string;
  concurrency: number;
}

/** The outcome of a job: a failed one is tried again while it has attempts left; the others use none up. */
export type JobOutcome =
  { kind: 'done' } | { kind: 'failed'; error: Error } | { kind: 'wait' } | { kind: 'delay'; ms: number };

/** The outcome of each job, in job order. */
export type BatchOutcomes = readonly JobOutcome[];

/** Does jobs together. */
export type BatchProcessor = (jobs: readonly Job[]) => Promise<BatchOutcomes>;

/** Bytes of job data, as JSON, in one batch. */
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
/** Jobs whose size is unknown until they are taken. */
const TAKE_AT_ONCE = 64;

/**
 * Replies by which Redis refuses commands for a while; BullMQ would ask again in a hot loop. Before
 * version 7, Redis wraps the reply that a script gets: `ERR Error running script (…): … -OOM …`.
 */
const REFUSED_BY_REDIS = /(?:^| -)(OOM|LOADING|READONLY|NOREPLICAS|MISCONF|MASTERDOWN|CLUSTERDOWN|BUSY)\b/;
const REDIS_REST_MS = 300;
const ASK_EVERY_MS = 250;
const REPORT_EVERY_MS = 5000;

/**
 * Takes jobs in batches and pauses while there is a reason to take none. Batches are BullMQ's manual processing: all
 * jobs that wait are taken at once, and ending one takes the next along
 * (https://docs.bullmq.io/patterns/manually-fetching-jobs). BullMQ's own loop takes jobs one after the other.
 */
export class JobWorker {
  private readonly redis: RedisConnection;
  private readonly worker: Worker;
  private readonly concurrency: number;
  /** Jobs whose locks are renewed. */
  private readonly inHand = new Set<Job>();
  private readonly tokenPrefix = randomUUID();
  private tokens = 0;
  private running: Promise<void> | undefined;
  private renewal: NodeJS.Timeout | undefined;
  private isBlocked = false;
  private isStopping = false;
  private pauseReason: string | undefined;
  private paused: Promise<void> | undefined;
  private reportAgainAt = 0;
  private takenAt = performance.now();

  /** @param onFailed called for each job that has failed for good */
  constructor(
    { redis, queue, queuePrefix, concurrency, ...options }: JobSource,
    private readonly process: BatchProcessor,
    private readonly onFailed: (job: Job, error: Error) => void,
    private readonly logger: Logger,
  ) {
    this.redis = redis;
    this.concurrency = concurrency;
    const settings = { ...WORKER_OPTIONS, ...options, connection: redis, prefix: keyPrefix(queuePrefix) };
    this.worker = new Worker(queue, null, { ...settings, autorun: false });
    this.worker.on('error', (error) => {
      this.onError(error);
    });
  }

  /** Takes jobs from now on. */
  start(): void {
    this.takenAt = performance.now();
    void this.worker.startStalledCheckTimer();
    this.renewal = setInterval(() => {
      this.renewLocks();
    }, LOCK_MS / 2);
    this.running = this.run();
  }

  /** Takes no jobs until `isOver` says so. */
  pauseWhile(reason: string, isOver: () => Promise<boolean>): void {
    if (this.pauseReason !== undefined) return;
    this.pauseReason = reason;
    const isReported = performance.now() >= this.reportAgainAt;
    if (isReported) {
      this.reportAgainAt = performance.now() + REPORT_EVERY_MS;
      this.logger.warn({ reason }, 'taking no jobs');
    }
    this.paused = (async () => {
      while (!this.isStopping && !(await isOver())) await delay(ASK_EVERY_MS);
      this.pauseReason = undefined;
      this.takenAt = performance.now();
      if (isReported) this.logger.info('taking jobs again');
    })();
  }

  /** Why no jobs are taken, or undefined while they are, or would be if there were any. */
  get idleReason(): string | undefined {
    if (this.isStopping) return 'stopping';
    return this.pauseReason ?? (this.running === undefined ? 'not started' : undefined);
  }

  /** How many jobs are in hand: taken, and neither ended nor given up. */
  get jobsInHand(): number {
    return this.inHand.size;
  }

  /** Whether jobs wait although none was taken for `ms`. */
  async hasNotTakenFor(ms: number): Promise<boolean> {
    return performance.now() - this.takenAt > ms && (await this.countWaiting()) > 0;
  }

  /** Takes no more jobs, and settles once those in hand have ended. */
  async close(): Promise<void> {
    this.isStopping = true;
    // Nothing is in hand then; not forced, closing would wait until BullMQ stops waiting for a job.
    if (this.isBlocked) await this.worker.close(true);
    await this.running;
    while (this.inHand.size > 0) await delay(REDIS_REST_MS, undefined, { ref: false });
    clearInterval(this.renewal);
    await this.worker.close();
  }

  /** Gives the jobs in hand back to the queue: another worker takes them. */
  async giveBack(): Promise<void> {
    await Promise.allSettled([...this.inHand].map((job) => job.moveToWait(job.token)));
  }

  private async run(): Promise<void> {
    let next: Job[] = [];
    while (!this.isStopping || next.length > 0) {
      await this.paused;
      const jobs = next.length > 0 ? next : await this.waitForJob();
      next = jobs.length > 0 ? await this.processAll(await this.fill(jobs)) : [];
    }
  }

  private async waitForJob(): Promise<Job[]> {
    this.isBlocked = true;
    const jobs = await this.take(1, { block: true });
    this.isBlocked = false;
    return jobs;
  }

  /** Adds jobs that wait, up to the concurrency and to {@link MAX_BATCH_BYTES}. */
  private async fill(jobs: Job[]): Promise<Job[]> {
    let bytes = jobs.reduce((sum, job) => sum + bytesOf(job), 0);
    while (jobs.length < this.concurrency && bytes < MAX_BATCH_BYTES && this.idleReason === undefined) {
      const waiting = await this.countWaiting().catch(() => 0);
      const taken = await this.take(Math.min(waiting, this.concurrency - jobs.length, TAKE_AT_ONCE), { block: false });
      if (taken.length === 0) break;
      jobs.push(...taken);
      bytes += taken.reduce((sum, job) => sum + bytesOf(job), 0);
    }
    return jobs;
  }

  private async take(count: number, options: { block: boolean }): Promise<Job[]> {
    const token = (): string => `${this.tokenPrefix}:${String(this.tokens++)}`;
    const fetched = Array.from({ length: count }, () => this.worker.getNextJob(token(), options));
    const outcomes = await Promise.allSettled(fetched);
    const refused = outcomes.find((outcome) => outcome.status === 'rejected');
    if (refused !== undefined && !this.isStopping) {
      this.onError(refused.reason as Error);
      await delay(REDIS_REST_MS);
    }
    const jobs = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : undefined));
    const taken = jobs.filter((job: Job | undefined) => job !== undefined);
    for (const job of taken) this.inHand.add(job);
    if (taken.length > 0) this.takenAt = performance.now();
    return taken;
  }

  /** Returns the jobs that were taken along. */
  private async processAll(jobs: readonly Job[]): Promise<Job[]> {
    const next: Job[] = [];
    for (const batch of cutByBytes(jobs, bytesOf, MAX_BATCH_BYTES)) {
      const outcomes = await this.process(batch).catch((error: unknown) =>
        batch.map((): JobOutcome => ({ kind: 'failed', error: error as Error })),
      );
      const ends = batch.map((job, index) => this.end(job, outcomes[index] ?? { kind: 'done' }));
      next.push(...(await Promise.all(ends)).filter((job) => job !== undefined));
    }
    return next;
  }

  /** Ends a job, later if Redis refuses to now. A job that cannot be ended is taken over, and its item found. */
  private async end(job: Job, outcome: JobOutcome): Promise<Job | undefined> {
    try {
      const next = await this.moveOn(job, outcome, this.idleReason === undefined);
      this.inHand.delete(job);
      return next;
    } catch (error) {
      this.onError(error as Error);
      if (error instanceof ReplyError) void this.endLater(job, outcome);
      else this.inHand.delete(job);
      return undefined;
    }
  }

  private async endLater(job: Job, outcome: JobOutcome): Promise<void> {
    const until = performance.now() + LOCK_MS;
    while (performance.now() < until) {
      await delay(REDIS_REST_MS);
      const hasEnded = await this.moveOn(job, outcome, false).then(
        () => true,
        (error: unknown) => !(error instanceof ReplyError),
      );
      if (hasEnded) break;
    }
    this.inHand.delete(job);
  }

  private async moveOn(job: Job, outcome: JobOutcome, fetchNext: boolean): Promise<Job | undefined> {
    const { token = '' } = job;
    switch (outcome.kind) {
      case 'done':
        return this.toNext(await job.moveToCompleted(undefined, token, fetchNext), token);
      case 'wait':
        await job.moveToWait(token);
        return undefined;
      case 'delay':
        await job.moveToDelayed(Date.now() + outcome.ms, token);
        return undefined;
      case 'failed': {
        await job.moveToFailed(outcome.error, token, false);
        // Without a time of finishing it will be tried again.
        if (job.finishedOn !== undefined) this.onFailed(job, outcome.error);
        return undefined;
      }
    }
  }

  /** The job that was taken along when another ended: its data and its id, or nothing. */
  private toNext(taken: unknown, token: string): Job | undefined {
    const [json, id] = Array.isArray(taken) ? (taken as [JobJson | null, string]) : [null, ''];
    if (!json) return undefined;
    const job = Job.fromJSON(this.worker, json, id);
    job.token = token;
    this.inHand.add(job);
    this.takenAt = performance.now();
    return job;
  }

  private renewLocks(): void {
    for (const job of this.inHand) {
      job.extendLock(job.token ?? '', LOCK_MS).catch((error: unknown) => {
        this.onError(error as Error);
      });
    }
  }

  private countWaiting(): Promise<number> {
    return this.redis.llen(this.worker.toKey('wait'));
  }

  private onError(error: Error): void {
    if (this.isStopping) return;
    if (REFUSED_BY_REDIS.test(error.message)) {
      this.pauseWhile('Redis refuses commands', () => delay(REDIS_REST_MS, true));
      return;
    }
    // The connection itself reports that Redis is away.
    const isOfConnection = 'syscall' in error || error.message === 'Connection is closed.';
    if (!isOfConnection) this.logger.warn({ error: error.message }, 'queue error');
  }
}

function bytesOf({ data }: Job): number {
  return Buffer.byteLength(JSON.stringify(data));
}
