import { areWritesRefused, reasonOf, type Database } from '@app/database';
import { CREATE_QUEUE, JobWorker, type JobOutcome, type RedisConnection } from '@app/queue';
import type { Logger, WorkerConfig } from '@app/runtime';
import type { BatchMetrics } from './batch-metrics.js';
import { isStoreUnavailable, UnknownVersionError, type CreateItemProcessor } from './create-item.processor.js';

const PING_WITHIN_MS = 1000;
const UNKNOWN_VERSION_DELAY_MS = 5000;
const WATCH_EVERY_MS = 2000;
/**
 * The worker is stuck if jobs wait, Redis responds, the queue is not paused, and yet no job was tried in this many checks
 * in a row. Checks are counted, and not time, because a process that was suspended is not stuck.
 */
const STUCK_AFTER_CHECKS = 3;
/** After this many checks, the process must be restarted. */
const DEAD_AFTER_CHECKS = 15;

/** Takes create jobs from the queue while both stores work. Returns them to the queue while MongoDB is unavailable. */
export class CreateItemConsumer {
  private readonly worker: JobWorker;
  private checksWithoutProgress = 0;
  private isQueuePaused = false;
  private watch: NodeJS.Timeout | undefined;
  private checking: Promise<void> | undefined;

  constructor(
    redis: RedisConnection,
    { concurrency, queuePrefix }: Pick<WorkerConfig, 'concurrency' | 'queuePrefix'>,
    processor: CreateItemProcessor,
    private readonly database: Database,
    private readonly logger: Logger,
    metrics: BatchMetrics,
  ) {
    this.worker = new JobWorker(
      { redis, queue: CREATE_QUEUE, queuePrefix, concurrency },
      {
        process: (jobs) =>
          metrics.measure(jobs.length, async () => {
            const errors = await processor.process(jobs, this.onTried);
            return errors.map((error) => this.toOutcome(error));
          }),
        onFailed: (job, error) => {
          metrics.countFailure();
          void processor.giveUp(job, error);
        },
      },
      logger,
    );
  }

  /** Starts taking jobs. Calls `onDead` if jobs wait, both stores respond, the queue is not paused, and yet none is tried. */
  start(onDead: () => void): void {
    this.worker.start();
    // One check at a time: while Redis is unavailable, they would pile up, and all would finish when it is back.
    const check = (): Promise<void> => this.checkProgress(onDead).finally(() => (this.checking = undefined));
    this.watch = setInterval(() => {
      this.checking ??= check();
    }, WATCH_EVERY_MS);
  }

  /** Why no jobs complete. Undefined while they do, or would if there were any. */
  get idleReason(): string | undefined {
    if (this.worker.idleReason !== undefined) return this.worker.idleReason;
    if (this.isQueuePaused) return 'the queue is paused';
    return this.checksWithoutProgress >= STUCK_AFTER_CHECKS ? 'jobs wait and none is done' : undefined;
  }

  /** Returns whether the server of Redis that has the queue replies within `withinMs`. */
  redisResponds(withinMs: number): Promise<boolean> {
    return this.worker.redisResponds(withinMs);
  }

  /** Stops taking jobs. Those that do not complete within `graceMs` return to the queue, for another worker. */
  async stop(graceMs: number): Promise<void> {
    clearInterval(this.watch);
    await this.worker.close(graceMs);
  }

  /** Counts as progress, also if the job has to wait for MongoDB or another worker: a restart would not help. */
  private readonly onTried = (): void => {
    this.checksWithoutProgress = 0;
  };

  private toOutcome(error: Error | undefined): JobOutcome {
    this.onTried();
    if (error instanceof UnknownVersionError) return { kind: 'delay', ms: UNKNOWN_VERSION_DELAY_MS };
    if (error !== undefined && isStoreUnavailable(error)) {
      this.worker.pauseUntil(pauseReasonOf(error), () => this.database.responds(PING_WITHIN_MS));
      return { kind: 'wait' };
    }
    return error === undefined ? { kind: 'done' } : { kind: 'failed', error };
  }

  private async checkProgress(onDead: () => void): Promise<void> {
    const waiting = await this.worker.countWaiting().catch(() => 0);
    this.isQueuePaused = await this.worker.isQueuePaused().catch(() => false);
    const isExpected = waiting === 0 || this.isQueuePaused || this.worker.idleReason !== undefined;
    this.checksWithoutProgress = isExpected ? 0 : this.checksWithoutProgress + 1;
    const isDead = (): boolean => this.checksWithoutProgress >= DEAD_AFTER_CHECKS;
    if (!isDead() || !(await this.database.responds(WATCH_EVERY_MS)) || !isDead()) return;
    this.logger.fatal('jobs wait and none is done: exiting to be started again');
    onDead();
  }
}

/** Returns why no jobs are taken. The message of a failed write may quote the values of an item. */
function pauseReasonOf(error: Error & { code?: string | number }): string {
  if (areWritesRefused(error)) return `MongoDB refuses writes: ${reasonOf(error)}`;
  const { name, code } = error;
  return `MongoDB is unavailable: ${code === undefined ? name : `${name} ${String(code)}`}`;
}
