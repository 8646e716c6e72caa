import { isDatabaseUnavailable, reasonOf, type MaintenanceRepository } from '@app/database';
import type { SearchBackfill } from '@app/items';
import { settledWithin, type Logger } from '@app/runtime';

/** Most runs are two queries of an index that find nothing. */
const BOOSTS_EVERY_MS = 5000;
/** Search may lag behind a changed name for a minute, which leaves time for a second run. */
const SEARCH_EVERY_MS = 20_000;
/** Items without search terms at this age are assumed to have been left behind by their worker. */
const LEFT_OVER_AFTER_MS = 30_000;
/** The most items in one run. Those without terms come first, so that new rules for all items do not delay them. */
const MAX_ITEMS_PER_RUN = 10_000;
/** How long to wait for a run when stopping. The end of the process interrupts it, and the next run continues. */
const CLOSE_WITHIN_MS = 1000;

/**
 * Updates items as time passes and other services change them. Every worker runs it. A run right after another worker's
 * finds nothing to do.
 */
export class MaintenanceScheduler {
  private readonly stopping = new AbortController();
  private readonly lastRuns = new Map<() => Promise<void>, Promise<void>>();

  constructor(
    private readonly items: MaintenanceRepository,
    private readonly search: SearchBackfill,
    private readonly logger: Logger,
  ) {}

  start(): void {
    void this.repeat(BOOSTS_EVERY_MS, () => this.clearLapsedBoosts());
    void this.repeat(SEARCH_EVERY_MS, () => this.deriveSearchTerms());
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await settledWithin(CLOSE_WITHIN_MS, Promise.all(this.lastRuns.values()));
  }

  /** Runs a task at once, and again some time after each run. */
  private async repeat(afterMs: number, task: () => Promise<void>): Promise<void> {
    const { signal } = this.stopping;
    if (signal.aborted) return;
    const run = task().catch((error: unknown) => {
      // The end of the process may have interrupted it.
      if (signal.aborted) return;
      const cause = isDatabaseUnavailable(error) ? { reason: reasonOf(error) } : { err: error };
      this.logger.warn(cause, 'maintenance failed, the next run is due soon');
    });
    this.lastRuns.set(task, run);
    await run;
    setTimeout(() => void this.repeat(afterMs, task), afterMs).unref();
  }

  private async clearLapsedBoosts(): Promise<void> {
    const boosts = await this.items.clearLapsedBoosts(new Date());
    if (boosts > 0) this.logger.info({ boosts }, 'lapsed boosts ended');
  }

  private async deriveSearchTerms(): Promise<void> {
    // Younger items are still left to the SearchIndexer of the worker that stored them.
    const createdBefore = new Date(Date.now() - LEFT_OVER_AFTER_MS);
    const options = { limit: MAX_ITEMS_PER_RUN, stop: this.stopping.signal };
    const searchTerms = await this.search.run(createdBefore, options);
    if (searchTerms > 0) this.logger.info({ searchTerms }, 'search terms brought up to date');
  }
}
