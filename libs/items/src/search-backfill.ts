import type { MaintenanceRepository, StaleItem } from '@app/database';
import { SEARCH_VERSION, searchFields } from './search-terms.js';

/**
 * Derives the search terms of items that have none yet, whose name, description or brand has changed, or whose terms
 * older rules made.
 */
export class SearchBackfill {
  constructor(private readonly maintenance: MaintenanceRepository) {}

  /**
   * Works through all stale items that were created before `createdBefore`, in batches: interrupted, it goes on where it
   * stopped. An item that is changed at the same time is left for the next run. Answers how many were brought up to date.
   */
  async run(createdBefore: Date): Promise<number> {
    return this.update(this.maintenance.findStale(SEARCH_VERSION, createdBefore));
  }

  /** Those of these items that have no search terms get them. */
  async runFor(ids: readonly string[]): Promise<void> {
    await this.update(this.maintenance.findUnindexed(ids));
  }

  private async update(batches: AsyncIterable<StaleItem[]>): Promise<number> {
    let updated = 0;
    for await (const stale of batches) {
      updated += await this.maintenance.updateSearchFields(stale.map((item) => ({ item, fields: searchFields(item) })));
    }
    return updated;
  }
}
