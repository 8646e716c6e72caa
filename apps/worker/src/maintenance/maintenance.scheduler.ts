import { setTimeout as delay } from 'node:timers/promises';
import { Queue } from 'bullmq';
import type { MaintenanceRepository } from '@app/database';
import type { SearchBackfill } from '@app/items';
import { JobWorker, keyPrefix, MAINTENANCE_QUEUE, type BatchOutcomes, type RedisConnection } from '@app/queue';
import type { Logger } from '@app/runtime';

/** Twice within the minute that a lapsed boost or a changed name may lag. */
const EVERY_MS = 20_000;
/** Items that have no search terms at this age are nobody else's any more. */
const LEFT_OVER_AFTER_MS = 30_000;
/** The schedule lives in Redis and is made again in case Redis has lost it. */
const RENEW_EVERY_MS = 30_000;
/** A run that is not done by then is broken off by the end of the process: the next one goes on. */
const CLOSE_WITHIN_MS = 1000;

/** Keeps what time or other services have changed in items up to date: one run for all workers at a time. */
export class MaintenanceScheduler {
  private readonly queue: Queue;
  private readonly worker: JobWorker;
  private renewal: NodeJS.Timeout | undefined;

  constructor(
    redis: RedisConnection,
    queuePrefix: string,
    private readonly items: MaintenanceRepository,
    private readonly search: SearchBackfill,
    private readonly logger: Logger,
  ) {
    this.queue = new Queue(MAINTENANCE_QUEUE, { connection: redis, prefix: keyPrefix(queuePrefix) });
    this.queue.on('error', () => undefined);
    this.worker = new JobWorker({ redis, queue: MAINTENANCE_QUEUE, queuePrefix }, () => this.run(), logger);
    this.worker.onFailed((_job, error) => {
      this.logger.warn({ reason: error.name }, 'maintenance failed, the next run is due soon');
    });
  }

  start(): void {
    this.worker.start();
    this.schedule();
    this.renewal = setInterval(() => {
      this.schedule();
    }, RENEW_EVERY_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.renewal);
    const closed = this.worker.close().then(() => this.queue.close());
    await Promise.race([closed, delay(CLOSE_WITHIN_MS, undefined, { ref: false })]);
  }

  private schedule(): void {
    const opts = { removeOnComplete: true, removeOnFail: 10 };
    this.queue.upsertJobScheduler('maintenance', { every: EVERY_MS }, { name: 'run', opts }).catch(() => undefined);
  }

  private async run(): Promise<BatchOutcomes> {
    const boosts = await this.items.clearLapsedBoosts(new Date());
    // Younger ones are still the indexer's of the worker that has stored them.
    const searchTerms = await this.search.run(new Date(Date.now() - LEFT_OVER_AFTER_MS));
    if (boosts + searchTerms > 0) this.logger.info({ boosts, searchTerms }, 'items brought up to date');
    return [];
  }
}
