import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { MaintenanceRepository, StaleItem } from '@app/database';
import { SEARCH_VERSION, searchFields } from './search-terms.js';

/**
 * Derives the search terms of items that have none yet, whose name, description or brand has changed, or whose terms
 * older rules made.
 */
export class SearchBackfill {
  constructor(private readonly maintenance: MaintenanceRepository) {}

  /**
   * Works through the stale items that were created before `createdBefore`, at most `limit` of them, in batches, resting
   * after each for as long as it took: creates go on meanwhile. Interrupted, it goes on where it stopped. An item that is
   * changed at the same time is left for the next run. Returns how many were brought up to date.
   */
  async run(createdBefore: Date, limit?: number): Promise<number> {
    let updated = 0;
    let start = performance.now();
    for await (const stale of this.maintenance.findStale(SEARCH_VERSION, createdBefore, limit)) {
      updated += await this.update(stale);
      await delay(performance.now() - start);
      start = performance.now();
    }
    return updated;
  }

  /** Those of these items that have no search terms get them. */
  async runFor(ids: readonly string[]): Promise<void> {
    for await (const stale of this.maintenance.findUnindexed(ids)) await this.update(stale);
  }

  private async update(stale: StaleItem[]): Promise<number> {
    const updates: Parameters<MaintenanceRepository['updateSearchFields']>[0] = [];
    for (const item of stale) {
      const { name, description, brandTitle } = item;
      const texts = { name: textOf(name), description: textOf(description), brandTitle: textOf(brandTitle) };
      updates.push({ item, fields: searchFields(texts) });
      // A large item takes about ten milliseconds.
      await nextTurn();
    }
    return this.maintenance.updateSearchFields(updates);
  }
}

/** Another service may have stored something else in its place. */
function textOf(stored: unknown): string {
  return typeof stored === 'string' ? stored : '';
}
