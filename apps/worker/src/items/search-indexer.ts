import type { NewlyStored, SearchBackfill } from '@app/items';
import { settledWithin } from '@app/runtime';

/** The batch size from which creates count as a burst. */
const BURST = 16;
/** The most memory that waiting items may take, as estimated. Beyond it, items are indexed when they are stored. */
const MAX_DUE_BYTES = 16 * 1024 * 1024;
const BYTES_PER_ITEM = 400;
const BATCH = 100;
/** A burst is over after this long without a create. It is longer than the queue needs between two batches. */
const QUIET_MS = 250;
const LOOK_EVERY_MS = 50;
/** Items that have waited longer are indexed even during creates, with a pause after each batch. */
const MAX_WAIT_MS = 10_000;
const PAUSE_MS = 300;

/**
 * Adds the items of a burst to the search index once the burst is over, because indexing is most of what storing an
 * item costs MongoDB. Indexing an item later costs more in total, so it is deferred for bursts only.
 */
export class SearchIndexer {
  private readonly due: (NewlyStored & { since: number })[] = [];
  private dueBytes = 0;
  private creating = 0;
  private createdAt = -Infinity;
  private indexedAt = -Infinity;
  private isStopping = false;
  private running: Promise<unknown> | undefined;

  constructor(private readonly search: SearchBackfill) {}

  /** Returns whether to store this many creates without search terms. The caller then passes them to {@link add}. */
  shouldDefer(creates: number): boolean {
    return creates >= BURST && this.dueBytes <= MAX_DUE_BYTES;
  }

  /** Pauses indexing until shortly after these creates have ended. */
  async pauseWhile<T>(creates: Promise<T>): Promise<T> {
    this.creating++;
    return creates.finally(() => {
      this.creating--;
      this.createdAt = performance.now();
    });
  }

  /** Schedules items that are stored without search terms. Keeps only their texts, because the rest may be large. */
  add(items: readonly NewlyStored[]): void {
    const since = performance.now();
    this.due.push(
      ...items.map(({ id, name, description, brandTitle }) => ({ id, name, description, brandTitle, since })),
    );
    this.dueBytes += bytesOf(items);
    // Two batches at a time, because MongoDB uses one core for each.
    this.running ??= Promise.all([this.run(), this.run()]).finally(() => (this.running = undefined));
  }

  /** Indexes the remaining items at once. What takes longer than `withinMs` is left to maintenance. */
  async stop(withinMs: number): Promise<void> {
    this.isStopping = true;
    await settledWithin(withinMs, Promise.resolve(this.running));
    this.due.length = 0;
  }

  private async run(): Promise<void> {
    while (this.due.length > 0) {
      while (!this.mayIndex(performance.now())) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      // The other loop pauses as well.
      this.indexedAt = performance.now();
      const batch = this.due.splice(0, BATCH);
      this.dueBytes -= bytesOf(batch);
      // Failures are left to maintenance.
      if (batch.length > 0) await this.search.runFor(batch).catch(() => undefined);
      this.indexedAt = performance.now();
    }
  }

  private mayIndex(now: number): boolean {
    if (this.isStopping || (this.creating === 0 && now - this.createdAt >= QUIET_MS)) return true;
    const since = this.due[0]?.since ?? now;
    return now - since >= MAX_WAIT_MS && now - this.indexedAt >= PAUSE_MS;
  }
}

/** Estimates the memory that waiting items take. */
function bytesOf(items: readonly NewlyStored[]): number {
  return items.reduce((sum, { name, description }) => sum + name.length + description.length + BYTES_PER_ITEM, 0);
}
