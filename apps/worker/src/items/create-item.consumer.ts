import { setTimeout as delay } from 'node:timers/promises';
import { DelayedError, WaitingError, type Job } from 'bullmq';
import { isDatabaseAway, type Database } from '@app/database';
import { CREATE_QUEUE, JobWorker, WORKER_OPTIONS, type BatchOutcomes, type RedisConnection } from '@app/queue';
import type { Logger, WorkerConfig } from '@app/runtime';
import { UnknownVersionError, type CreateItemProcessor } from './create-item.processor.js';

const PING_WITHIN_MS = 1000;
const HAND_BACK_WITHIN_MS = 500;
/** Empty-handed, closing takes no time, except where Redis is away and has to be left alone. */
const CLOSE_WITHIN_MS = 1000;
/** Jobs that wait are taken within milliseconds; this long after the last one something is wrong. */
const STUCK_AFTER_MS = 5000;

const UNKNOWN_VERSION_DELAY_MS = 5000;
const WATCH_EVERY_MS = 5000;
/** Jobs wait, both stores answer, and yet none has been done for this long: only a new process helps. */
const DEAD_AFTER_MS = 30_000;

/** Takes create jobs from the queue while both stores work, and gives them back while they do not. */
export class CreateItemConsumer {
  private readonly worker: JobWorker;
  /** Jobs in hand: taken, and neither done nor given back. */
  private readonly inHand = new Set<Job>();
  private doneAt = Date.now();
  private watch: NodeJS.Timeout | undefined;

  constructor(
    redis: RedisConnection,
    { concurrency, queuePrefix }: Pick<WorkerConfig, 'concurrency' | 'queuePrefix'>,
    private readonly processor: CreateItemProcessor,
    private readonly database: Database,
    private readonly logger: Logger,
  ) {
    const source = { redis, queue: CREATE_QUEUE, queuePrefix, concurrency, ...WORKER_OPTIONS };
    this.worker = new JobWorker(source, (jobs) => this.work(jobs), logger);
    this.worker.onFailed((job, error) => {
      // Without a time of finishing the job will be tried again.
      if (job?.finishedOn !== undefined) void this.processor.giveUp(job, error.message);
    });
  }

  /** Takes jobs from now on; calls `onDead` when no job is done although nothing stands in the way. */
  start(onDead: () => void): void {
    this.worker.start();
    this.watch = setInterval(() => void this.watchOver(onDead), WATCH_EVERY_MS);
  }

  /** Why no jobs are taken, or undefined while they are, or would be if there were any; asks Redis. */
  async idleReason(): Promise<string | undefined> {
    if (this.worker.idleReason !== undefined || this.inHand.size > 0) return this.worker.idleReason;
    return (await this.worker.hasNotTakenFor(STUCK_AFTER_MS)) ? 'jobs wait and none is taken' : undefined;
  }

  /** Takes no more jobs, and gives back those that are not done within `graceMs`: another worker does them. */
  async stop(graceMs: number): Promise<void> {
    clearInterval(this.watch);
    const closed = this.worker.close().then(() => true);
    const late = Promise.race([delay(graceMs, false, { ref: false }), this.emptyHanded()]);
    if ((await Promise.race([closed, late])) || this.inHand.size === 0) return;
    this.logger.warn({ jobs: this.inHand.size }, 'giving unfinished jobs back');
    const givenBack = Promise.allSettled([...this.inHand].map((job) => job.moveToWait(job.token)));
    await Promise.race([givenBack, delay(HAND_BACK_WITHIN_MS, undefined, { ref: false })]);
  }

  private async work(jobs: readonly Job[]): Promise<BatchOutcomes> {
    for (const job of jobs) this.inHand.add(job);
    const outcomes = await this.processor.process(jobs);
    return Promise.all(jobs.map((job, index) => this.putDown(job, outcomes[index])));
  }

  /** Answers what the queue has to know of it. */
  private async putDown(job: Job, outcome: Error | undefined): Promise<Error | undefined> {
    try {
      if (outcome instanceof UnknownVersionError) {
        await job.moveToDelayed(Date.now() + UNKNOWN_VERSION_DELAY_MS, job.token);
        return new DelayedError();
      }
      if (!isDatabaseAway(outcome)) {
        this.doneAt = Date.now();
        return outcome;
      }
      // Nothing is wrong with the job: it goes back, and no attempt is used up.
      void this.worker.rest('MongoDB is away', () => this.database.answers(PING_WITHIN_MS));
      await job.moveToWait(job.token);
    } catch (error) {
      this.logger.warn({ id: job.id, err: error }, 'job not put back, it will be taken over');
    } finally {
      this.inHand.delete(job);
    }
    return new WaitingError();
  }

  private async watchOver(onDead: () => void): Promise<void> {
    const waits = await this.worker.hasNotTakenFor(0).catch(() => false);
    if (!waits || this.worker.idleReason !== undefined) this.doneAt = Date.now();
    if (Date.now() - this.doneAt < DEAD_AFTER_MS || !(await this.database.answers(WATCH_EVERY_MS))) return;
    this.logger.fatal('jobs wait and none is done: exiting to be started again');
    onDead();
  }

  private async emptyHanded(): Promise<false> {
    while (this.inHand.size > 0) await delay(50, undefined, { ref: false });
    return delay(CLOSE_WITHIN_MS, false, { ref: false });
  }
}
