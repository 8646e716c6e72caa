import type { SearchBackfill } from '@app/items';
import { settledWithin } from '@app/runtime';

/** Fewer creates at once are no burst. */
const BURST = 16;
/** As many items as wait at most, a burst of some ten seconds: what comes after is indexed when it is stored. */
const MAX_DUE = 20_000;
const BATCH = 100;
/** A shorter gap between creates is no end of them: the queue's own work on a batch takes up to 100 ms of a busy machine. */
const QUIET_MS = 250;
const LOOK_EVERY_MS = 50;
/** Older ones are indexed even while others are created, a batch at a time with a pause. */
const MAX_WAIT_MS = 10_000;
const PAUSE_MS = 300;

/**
 * Makes the items of a burst findable by search once it is over: most of what an item costs MongoDB is the index of its
 * words. An item that is stored first and indexed later costs more altogether, so that is for bursts only.
 */
export class SearchIndexer {
  private readonly due: { id: string; since: number }[] = [];
  private creating = 0;
  private createdAt = -Infinity;
  private indexedAt = -Infinity;
  private isStopping = false;
  private running: Promise<void> | undefined;

  constructor(private readonly search: SearchBackfill) {}

  /** Whether these many creates are to be stored without search terms now, and to be added when they are. */
  shouldDefer(creates: number): boolean {
    return creates >= BURST && this.due.length + creates <= MAX_DUE;
  }

  /** Nothing is indexed while this is going on, nor right after it. */
  async pauseWhile<T>(creates: Promise<T>): Promise<T> {
    this.creating++;
    return creates.finally(() => {
      this.creating--;
      this.createdAt = performance.now();
    });
  }

  /** Takes on items that are stored without search terms. */
  add(ids: readonly string[]): void {
    const since = performance.now();
    this.due.push(...ids.map((id) => ({ id, since })));
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
  }

  /** Indexes what is due without waiting any more; what takes longer than `withinMs` is left to the maintenance. */
  async stop(withinMs: number): Promise<void> {
    this.isStopping = true;
    await settledWithin(withinMs, Promise.resolve(this.running));
    this.due.length = 0;
  }

  private async run(): Promise<void> {
    while (this.due.length > 0) {
      while (!this.isItsTurn(performance.now())) await pause(LOOK_EVERY_MS);
      const batch = this.due.splice(0, BATCH).map(({ id }) => id);
      // What fails is left to the maintenance.
      if (batch.length > 0) await this.search.runFor(batch).catch(() => undefined);
      this.indexedAt = performance.now();
    }
  }

  private isItsTurn(now: number): boolean {
    if (this.isStopping || (this.creating === 0 && now - this.createdAt >= QUIET_MS)) return true;
    const since = this.due[0]?.since ?? now;
    return now - since >= MAX_WAIT_MS && now - this.indexedAt >= PAUSE_MS;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
