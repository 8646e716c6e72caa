import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { atMostEvery, cutByBytes, settledWithin, type Logger } from '@app/runtime';
import { Job, Worker, type JobJson } from 'bullmq';
import { keyPrefix, LOCK_MS, WORKER_OPTIONS } from './queue-settings.js';
import type { RedisConnection } from './redis.js';

/** Where the jobs come from; up to `concurrency` of them are taken at a time. */
export interface JobSource {
  redis: RedisConnection;
  queue: string;
  queuePrefix: string;
  concurrency: number;
}

/** The outcome of a job: a failed one is tried again while it has attempts left; the others use none up. */
export type JobOutcome =
  { kind: 'done' } | { kind: 'failed'; error: Error } | { kind: 'wait' } | { kind: 'delay'; ms: number };

/** What is done with jobs. */
export interface JobHandlers {
  /** Does jobs together; returns the outcome of each, in job order. When it throws, all of them have failed. */
  process: (jobs: readonly Job[]) => Promise<readonly JobOutcome[]>;
  /** Called for each job that has failed for good. */
  onFailed: (job: Job, error: Error) => void;
}

/** Bytes of job data, as JSON, in one batch. */
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
/** The size of a job is known only once it is taken: this bounds by how much a batch can exceed its bytes. */
const TAKE_AT_ONCE = 64;

/**
 * Replies by which Redis refuses commands for a while; BullMQ would ask again in a hot loop. Before
 * version 7, Redis wraps the reply that a script gets: `ERR Error running script (…): … -OOM …`.
 */
const REFUSED_BY_REDIS = /(?:^| -)(OOM|LOADING|READONLY|NOREPLICAS|MISCONF|MASTERDOWN|CLUSTERDOWN|BUSY)\b/;
const PAUSE_MS = 300;
const ASK_EVERY_MS = 50;
/** Each step of closing; Redis may be away, and is then left alone. */
const CLOSE_WITHIN_MS = 500;
const REPORT_EVERY_MS = 5000;

/**
 * Takes jobs in batches, and none while it is paused. This is BullMQ's manual processing
 * (https://docs.bullmq.io/patterns/manually-fetching-jobs): all jobs that wait are taken at once, and each that ends takes
 * the next along, where BullMQ's own loop takes one job after the other.
 */
export class JobWorker {
  private readonly worker: Worker;
  /** Jobs that were taken and have not ended, with the bytes of their data; their locks are renewed. */
  private readonly inHand = new Map<Job, number>();
  private readonly tokenPrefix = randomUUID();
  private tokens = 0;
  private running: Promise<void> | undefined;
  private renewal: NodeJS.Timeout | undefined;
  private isBlocked = false;
  private isStopping = false;
  private pauseReason: string | undefined;
  private paused: Promise<void> | undefined;
  private readonly reportPause = atMostEvery(REPORT_EVERY_MS, (reason: string) => {
    this.logger.warn({ reason }, 'taking no jobs');
  });
  private readonly reportError = atMostEvery(REPORT_EVERY_MS, (error: string) => {
    this.logger.warn({ error }, 'queue error');
  });

  constructor(
    private readonly source: JobSource,
    private readonly handlers: JobHandlers,
    private readonly logger: Logger,
  ) {
    const { redis: connection, queue, queuePrefix } = source;
    const options = { ...WORKER_OPTIONS, connection, prefix: keyPrefix(queuePrefix), autorun: false };
    this.worker = new Worker(queue, null, options);
    this.worker.on('error', this.onError);
  }

  /** Takes jobs from now on. */
  start(): void {
    void this.worker.startStalledCheckTimer();
    this.renewal = setInterval(() => {
      // While Redis is away, renewals would pile up.
      if (this.source.redis.status !== 'ready') return;
      for (const job of this.inHand.keys()) job.extendLock(job.token ?? '', LOCK_MS).catch(this.onError);
    }, LOCK_MS / 2);
    this.running = this.run();
  }

  /** Takes no jobs until `isOver` says so. */
  pauseWhile(reason: string, isOver: () => Promise<boolean>): void {
    if (this.pauseReason !== undefined) return;
    this.pauseReason = reason;
    const isReported = this.reportPause(reason);
    this.paused = (async () => {
      while (!this.isStopping && !(await isOver())) await delay(PAUSE_MS);
      this.pauseReason = undefined;
      if (isReported) this.logger.info('taking jobs again');
    })();
  }

  /** Why no jobs are taken, or undefined while they are, or would be if there were any. */
  get idleReason(): string | undefined {
    if (this.isStopping) return 'stopping';
    return this.pauseReason ?? (this.running === undefined ? 'not started' : undefined);
  }

  /** How many jobs wait to be taken. @throws when Redis does not answer */
  countWaiting(): Promise<number> {
    return this.source.redis.llen(this.worker.toKey('wait'));
  }

  /** Takes no more jobs, and gives those back that have not ended within `graceMs`: another worker takes them. */
  async close(graceMs: number): Promise<void> {
    this.isStopping = true;
    // Nothing is in hand then; not forced, closing would wait for as long as BullMQ waits for a job.
    if (this.isBlocked) await settledWithin(CLOSE_WITHIN_MS, this.worker.close(true));
    const until = performance.now() + graceMs;
    while (this.inHand.size > 0 && performance.now() < until) await delay(ASK_EVERY_MS);
    clearInterval(this.renewal);
    if (this.inHand.size > 0) this.logger.warn({ jobs: this.inHand.size }, 'giving unfinished jobs back');
    const givingBack = [...this.inHand.keys()].map((job) => job.moveToWait(job.token));
    await settledWithin(CLOSE_WITHIN_MS, Promise.allSettled(givingBack));
    await settledWithin(
      CLOSE_WITHIN_MS,
      Promise.resolve(this.running).then(() => this.worker.close()),
    );
  }

  private async run(): Promise<void> {
    let next: Job[] = [];
    while (!this.isStopping || next.length > 0) {
      await this.paused;
      if (this.isStopping && next.length === 0) break;
      this.isBlocked = next.length === 0;
      const jobs = this.isBlocked ? await this.take(1, { block: true }) : next;
      this.isBlocked = false;
      next = jobs.length > 0 ? await this.processAll(await this.fill(jobs)) : [];
    }
  }

  /** Adds jobs that wait, up to the concurrency and to {@link MAX_BATCH_BYTES}. */
  private async fill(jobs: readonly Job[]): Promise<readonly Job[]> {
    const room = this.source.concurrency - jobs.length;
    const bytes = jobs.reduce((sum, job) => sum + this.bytesOf(job), 0);
    if (room <= 0 || bytes >= MAX_BATCH_BYTES || this.idleReason !== undefined) return jobs;
    const waiting = await this.countWaiting().catch(() => 0);
    const taken = await this.take(Math.min(waiting, room, TAKE_AT_ONCE), { block: false });
    return taken.length === 0 ? jobs : this.fill([...jobs, ...taken]);
  }

  private async take(count: number, options: { block: boolean }): Promise<Job[]> {
    const token = (): string => `${this.tokenPrefix}:${String(this.tokens++)}`;
    const fetched = Array.from({ length: count }, () => this.worker.getNextJob(token(), options));
    const outcomes = await Promise.allSettled(fetched);
    const refused = outcomes.find((outcome) => outcome.status === 'rejected');
    if (refused !== undefined && !this.isStopping) {
      this.onError(refused.reason);
      await delay(PAUSE_MS);
    }
    return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? this.hold(outcome.value) : []));
  }

  private hold(job: Job | undefined): Job[] {
    if (job === undefined) return [];
    this.inHand.set(job, Buffer.byteLength(JSON.stringify(job.data)));
    return [job];
  }

  /** Returns the jobs that were taken along. */
  private async processAll(jobs: readonly Job[]): Promise<Job[]> {
    const next: Job[] = [];
    for (const batch of cutByBytes(jobs, (job) => this.bytesOf(job), MAX_BATCH_BYTES)) {
      const failed = (error: unknown): JobOutcome[] => batch.map(() => ({ kind: 'failed', error: error as Error }));
      const outcomes = await this.handlers.process(batch).catch(failed);
      const ends = batch.map((job, index) => this.end(job, outcomes[index] ?? { kind: 'done' }));
      next.push(...(await Promise.all(ends)).flat());
    }
    return next;
  }

  /** Ends a job. One whose end Redis refuses is taken again when its lock has expired, and its item is found. */
  private async end(job: Job, outcome: JobOutcome): Promise<Job[]> {
    const { token = '' } = job;
    try {
      if (outcome.kind === 'wait') await job.moveToWait(token);
      if (outcome.kind === 'delay') await job.moveToDelayed(Date.now() + outcome.ms, token);
      if (outcome.kind === 'failed') await job.moveToFailed(outcome.error, token, false);
      // Without a time of finishing it will be tried again.
      if (outcome.kind === 'failed' && job.finishedOn !== undefined) this.handlers.onFailed(job, outcome.error);
      if (outcome.kind !== 'done') return [];
      return this.toJob(await job.moveToCompleted(undefined, token, this.idleReason === undefined), token);
    } catch (error) {
      this.onError(error);
      return [];
    } finally {
      this.inHand.delete(job);
    }
  }

  /** The job that was taken along when another ended: its data and its id, or nothing. */
  private toJob(taken: unknown, token: string): Job[] {
    const [json, id] = Array.isArray(taken) ? (taken as [JobJson | null, string]) : [null, ''];
    if (!json) return [];
    const job = Job.fromJSON(this.worker, json, id);
    job.token = token;
    return this.hold(job);
  }

  private bytesOf(job: Job): number {
    return this.inHand.get(job) ?? 0;
  }

  private readonly onError = (error: unknown): void => {
    const { message } = error as Error;
    // The connection itself reports that Redis is away.
    const isOfConnection = 'syscall' in (error as Error) || message === 'Connection is closed.';
    if (this.isStopping || isOfConnection) return;
    if (REFUSED_BY_REDIS.test(message)) this.pauseWhile('Redis refuses commands', () => delay(PAUSE_MS, true));
    else this.reportError(message);
  };
}
