import type { MaintenanceRepository } from '@app/database';
import type { SearchBackfill } from '@app/items';
import { settledWithin, type Logger } from '@app/runtime';

/** Twice within the minute that a lapsed boost or a changed name may lag. */
const EVERY_MS = 20_000;
/** Items that have no search terms at this age are nobody else's any more. */
const LEFT_OVER_AFTER_MS = 30_000;
/** A run that is not done by then is broken off by the end of the process: the next one goes on. */
const CLOSE_WITHIN_MS = 1000;

/**
 * Brings items up to date with the clock and with changes of other services. Every worker runs it; a run right after
 * another worker's finds nothing to do.
 */
export class MaintenanceScheduler {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;

  constructor(
    private readonly items: MaintenanceRepository,
    private readonly search: SearchBackfill,
    private readonly logger: Logger,
  ) {}

  start(): void {
    const run = (): void => {
      this.running ??= this.run()
        .catch((error: unknown) => {
          this.logger.warn({ reason: (error as Error).name }, 'maintenance failed, the next run is due soon');
        })
        .finally(() => (this.running = undefined));
    };
    run();
    this.timer = setInterval(run, EVERY_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    if (this.running !== undefined) await settledWithin(CLOSE_WITHIN_MS, this.running);
  }

  private async run(): Promise<void> {
    const boosts = await this.items.clearLapsedBoosts(new Date());
    // Younger ones are still the indexer's of the worker that has stored them.
    const searchTerms = await this.search.run(new Date(Date.now() - LEFT_OVER_AFTER_MS));
    if (boosts + searchTerms > 0) this.logger.info({ boosts, searchTerms }, 'items brought up to date');
  }
}
