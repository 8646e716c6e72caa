import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@app/runtime';
import type { Job, WorkerOptions } from 'bullmq';
import { BatchWorker, type BatchOutcomes } from './batch-worker.js';
import { keyPrefix } from './queue-settings.js';
import type { RedisConnection } from './redis.js';

/** Where the jobs come from, and how they are held; `concurrency` of them at a time. */
export interface JobSource extends Partial<Omit<WorkerOptions, 'connection' | 'prefix' | 'autorun'>> {
  redis: RedisConnection;
  queue: string;
  queuePrefix: string;
}

/**
 * Replies by which Redis refuses commands for a while; BullMQ would ask again in a hot loop. Before
 * version 7, Redis wraps the reply that a script gets: `ERR Error running script (…): … -OOM …`.
 */
const REFUSED_BY_REDIS = /(?:^| -)(OOM|LOADING|READONLY|NOREPLICAS|MISCONF|MASTERDOWN|CLUSTERDOWN|BUSY)\b/;
const REDIS_REST_MS = 300;
const ASK_EVERY_MS = 250;
const REPORT_EVERY_MS = 5000;

/** Takes jobs in batches, and rests while there is a reason to take none. */
export class JobWorker {
  private readonly redis: RedisConnection;
  private readonly worker: BatchWorker;
  private resting: string | undefined;
  private isStopping = false;
  private reportAgainAt = 0;
  private lastSignOfLife = 0;

  constructor(
    { redis, queue, queuePrefix, ...options }: JobSource,
    work: (jobs: readonly Job[]) => Promise<BatchOutcomes>,
    private readonly logger: Logger,
  ) {
    const take = async (jobs: readonly Job[]): Promise<BatchOutcomes> => {
      this.lastSignOfLife = Date.now();
      // See BatchWorker; whoever reads the job later would stumble too.
      for (const job of jobs) if (typeof job.data === 'string') await job.updateData(job.data);
      return work(jobs);
    };
    this.redis = redis;
    const settings = { ...options, connection: redis, prefix: keyPrefix(queuePrefix) };
    this.worker = new BatchWorker(queue, take, () => this.countWaiting(), settings);
    this.worker.on('error', (error) => {
      this.onError(error);
    });
  }

  /** Calls `listener` for each failed try of a job; one with a `finishedOn` was the last. */
  onFailed(listener: (job: Job | undefined, error: Error) => void): void {
    this.worker.on('failed', listener);
  }

  /** Takes jobs from now on. */
  start(): void {
    this.lastSignOfLife = Date.now();
    // Settles when the worker is closed; what goes wrong in between comes as `error` events.
    this.worker.run().catch((error: unknown) => {
      this.logger.error({ err: error }, 'taking jobs has ended');
    });
  }

  /** Takes no jobs until it is over. */
  async rest(reason: string, isOver: () => Promise<boolean>): Promise<void> {
    if (this.resting !== undefined) return;
    this.resting = reason;
    const isReported = Date.now() >= this.reportAgainAt;
    if (isReported) {
      this.reportAgainAt = Date.now() + REPORT_EVERY_MS;
      this.logger.warn({ reason }, 'taking no jobs');
    }
    await this.worker.pause(true);
    while (!this.isStopping && !(await isOver())) await delay(ASK_EVERY_MS);
    this.resting = undefined;
    // Resuming would make a closing worker take jobs again.
    if (this.isStopping) return;
    this.lastSignOfLife = Date.now();
    await this.worker.resume();
    if (isReported) this.logger.info('taking jobs again');
  }

  /** Why no jobs are taken, or undefined while they are, or would be if there were any. */
  get idleReason(): string | undefined {
    if (this.isStopping) return 'stopping';
    return this.resting ?? (this.worker.isRunning() ? undefined : 'not started');
  }

  /** Whether jobs wait although none was taken for `ms`. */
  async hasNotTakenFor(ms: number): Promise<boolean> {
    return Date.now() - this.lastSignOfLife > ms && (await this.countWaiting()) > 0;
  }

  /** Takes no more jobs, and settles when those in hand are done. */
  async close(): Promise<void> {
    this.isStopping = true;
    await this.worker.close();
  }

  private countWaiting(): Promise<number> {
    return this.redis.llen(this.worker.toKey('wait'));
  }

  private onError(error: Error): void {
    if (REFUSED_BY_REDIS.test(error.message)) {
      void this.rest('Redis refuses commands', () => delay(REDIS_REST_MS, true));
      return;
    }
    // The connection itself reports that Redis is away.
    const isOfConnection = 'syscall' in error || error.message === 'Connection is closed.';
    if (!isOfConnection) this.logger.warn({ error: error.message }, 'queue error');
  }
}
