import type { MaintenanceRepository } from '@app/database';
import type { SearchBackfill } from '@app/items';
import { settledWithin, type Logger } from '@app/runtime';

/** An empty query of an index each, as a rule. */
const BOOSTS_EVERY_MS = 5000;
/** Twice within the minute that a changed name may lag. */
const SEARCH_EVERY_MS = 20_000;
/** Items that have no search terms at this age are nobody else's any more. */
const LEFT_OVER_AFTER_MS = 30_000;
/** As many items at most in one run, those without terms first: new rules for all items must not keep these waiting. */
const TERMS_A_RUN = 10_000;
/** A run that is not done by then is broken off by the end of the process: the next one goes on. */
const CLOSE_WITHIN_MS = 1000;

/**
 * Brings items up to date with the clock and with changes of other services. Every worker runs it; a run right after
 * another worker's finds nothing to do.
 */
export class MaintenanceScheduler {
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly running = new Set<Promise<void>>();

  constructor(
    private readonly items: MaintenanceRepository,
    private readonly search: SearchBackfill,
    private readonly logger: Logger,
  ) {}

  start(): void {
    this.repeat(BOOSTS_EVERY_MS, () => this.clearLapsedBoosts());
    this.repeat(SEARCH_EVERY_MS, () => this.deriveSearchTerms());
  }

  async stop(): Promise<void> {
    this.timers.forEach(clearInterval);
    await settledWithin(CLOSE_WITHIN_MS, Promise.all(this.running));
  }

  /** Runs a task at once and then at an interval, except while its last run is not done. */
  private repeat(everyMs: number, task: () => Promise<void>): void {
    let isRunning = false;
    const run = async (): Promise<void> => {
      isRunning = true;
      await task().catch((error: unknown) => {
        this.logger.warn({ reason: (error as Error).name }, 'maintenance failed, the next run is due soon');
      });
      isRunning = false;
    };
    const start = (): void => {
      if (isRunning) return;
      const running = run().finally(() => this.running.delete(running));
      this.running.add(running);
    };
    start();
    this.timers.push(setInterval(start, everyMs));
  }

  private async clearLapsedBoosts(): Promise<void> {
    const boosts = await this.items.clearLapsedBoosts(new Date());
    if (boosts > 0) this.logger.info({ boosts }, 'lapsed boosts ended');
  }

  private async deriveSearchTerms(): Promise<void> {
    // Younger ones are still the indexer's of the worker that has stored them.
    const searchTerms = await this.search.run(new Date(Date.now() - LEFT_OVER_AFTER_MS), TERMS_A_RUN);
    if (searchTerms > 0) this.logger.info({ searchTerms }, 'search terms brought up to date');
  }
}
