import type { MaintenanceRepository } from '@app/database';
import { SEARCH_VERSION, searchTerms } from './search-terms.js';

const BATCH = 500;

/** Derives the search terms of items anew whose name, description or brand has changed, or which older rules made. */
export class SearchBackfill {
  constructor(private readonly maintenance: MaintenanceRepository) {}

  /**
   * Works through all stale items, in batches: interrupted, it goes on where it stopped. An item that
   * is changed at the same time is left for the next run. Answers how many were brought up to date.
   */
  async run(): Promise<number> {
    let updated = 0;
    for (;;) {
      const stale = await this.maintenance.findStale(SEARCH_VERSION, BATCH);
      const updates = stale.map((item) => ({ item, terms: searchTerms(item) }));
      const count = updates.length === 0 ? 0 : await this.maintenance.updateSearchTerms(updates, SEARCH_VERSION);
      updated += count;
      if (count === 0) return updated;
    }
  }
}
