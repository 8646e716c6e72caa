import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { ItemWithoutUrl } from '@app/contracts';
import { mongoId, type MaintenanceRepository, type StaleItem } from '@app/database';
import { SEARCH_VERSION, searchFields } from './search-terms.js';

/** An item that was just stored, with the texts that its search terms are derived from. */
export type NewlyStored = Pick<ItemWithoutUrl, 'id' | 'name' | 'description' | 'brandTitle'>;

/**
 * Derives the search terms of items that have none yet, whose name, description or brand has changed, or whose terms
 * come from older rules.
 */
export class SearchBackfill {
  constructor(private readonly maintenance: MaintenanceRepository) {}

  /**
   * Updates stale items created before `createdBefore`, at most `limit` of them, in batches. Pauses after each batch
   * for as long as it took, to leave room for creates. If a run is interrupted, the next one continues where it
   * stopped. An item that changes during the run is left for the next run. After `stop` is aborted, starts no further
   * batch. Returns the number of updated items.
   */
  async run(createdBefore: Date, { limit, stop }: { limit?: number; stop?: AbortSignal } = {}): Promise<number> {
    let updated = 0;
    let start = performance.now();
    for await (const stale of this.maintenance.findStale(SEARCH_VERSION, createdBefore, limit)) {
      if (stop?.aborted) break;
      updated += await this.update(stale);
      await delay(performance.now() - start, undefined, { signal: stop }).catch(() => undefined);
      start = performance.now();
    }
    return updated;
  }

  /** Adds search terms to items that were just stored without. An item that has changed since is left to maintenance. */
  async runFor(items: readonly NewlyStored[]): Promise<void> {
    await this.update(
      items.map(({ id, name, description, brandTitle }) => ({ _id: mongoId(id), name, description, brandTitle })),
    );
  }

  private async update(stale: StaleItem[]): Promise<number> {
    const updates: Parameters<MaintenanceRepository['updateSearchFields']>[0] = [];
    for (const item of stale) {
      // Another service may have stored null in place of a text.
      const [name, description] = [item.name ?? '', item.description ?? ''];
      updates.push({ item, fields: searchFields({ name, description, brandTitle: item.brandTitle ?? null }) });
      // Yields to other work, because a large item takes several milliseconds.
      await nextTurn();
    }
    return this.maintenance.updateSearchFields(updates);
  }
}
