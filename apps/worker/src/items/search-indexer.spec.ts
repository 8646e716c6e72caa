import type { NewlyStored, SearchBackfill } from '@app/items';
import { SearchIndexer } from './search-indexer.js';

const items = (count: number, description = ''): NewlyStored[] =>
  Array.from({ length: count }, (_, index) => ({ id: `id-${String(index)}`, name: '', description, brandTitle: null }));

describe('SearchIndexer', () => {
  let indexed: number[];
  let indexer: SearchIndexer;

  beforeEach(() => {
    jest.useFakeTimers();
    indexed = [];
    const runFor = (batch: readonly NewlyStored[]): Promise<void> => {
      indexed.push(batch.length);
      return Promise.resolve();
    };
    indexer = new SearchIndexer({ runFor } as unknown as SearchBackfill);
  });
  afterEach(() => jest.useRealTimers());

  const after = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

  /** Begins creates that never end. */
  const beBusy = (): void => void indexer.pauseWhile(new Promise(() => undefined));

  it('a search indexer indexes items in batches soon after the last create', async () => {
    await indexer.pauseWhile(Promise.resolve());
    indexer.add(items(250));
    await after(0);
    expect(indexed).toEqual([]);
    await after(400);
    expect(indexed).toEqual([100, 100, 50]);
  });

  it('a search indexer waits until shortly after the last create', async () => {
    let done = (): void => undefined;
    const creates = indexer.pauseWhile(new Promise<void>((resolve) => (done = resolve)));
    indexer.add(items(1));
    await after(1000);
    done();
    await creates;
    await after(249);
    expect(indexed).toEqual([]);
    await after(60);
    expect(indexed).toEqual([1]);
  });

  it('a search indexer does not take the gap between two batches for the end of a burst', async () => {
    await indexer.pauseWhile(Promise.resolve());
    indexer.add(items(100));
    for (let batch = 0; batch < 20; batch++) {
      await after(200);
      await indexer.pauseWhile(Promise.resolve());
    }
    expect(indexed).toEqual([]);
  });

  it('a search indexer defers indexing during a burst, but not forever', async () => {
    beBusy();
    indexer.add(items(2000));
    await after(9900);
    expect(indexed).toEqual([]);
    await after(3000);
    // There is a pause after each batch, so that creates go on.
    expect(indexed.length).toBeGreaterThan(5);
    expect(indexed.length).toBeLessThan(12);
    await after(10_000);
    expect(indexed).toHaveLength(20);
  });

  it('a search indexer defers large batches until the items that wait take too much memory', async () => {
    const deferred = (): boolean[] => [1, 15, 16, 128].map((creates) => indexer.shouldDefer(creates));
    beBusy();
    expect(deferred()).toEqual([false, false, true, true]);
    indexer.add(items(1000, 'x'.repeat(20_000)));
    expect(deferred()).not.toContain(true);
    await after(20_000);
    expect(deferred()).toEqual([false, false, true, true]);
    indexer.add(items(100_000));
    expect(deferred()).not.toContain(true);
  });

  it('a search indexer continues after a batch that fails', async () => {
    let tries = 0;
    const failing = {
      runFor: () => (++tries === 1 ? Promise.reject(new Error('unavailable')) : Promise.resolve()),
    } as unknown as SearchBackfill;
    indexer = new SearchIndexer(failing);
    indexer.add(items(150));
    await after(200);
    expect(tries).toBe(2);
  });

  it('a search indexer indexes the remaining items when it stops, if there is time', async () => {
    beBusy();
    indexer.add(items(150));
    await after(10);
    const stopped = indexer.stop(1000);
    await after(50);
    await stopped;
    expect(indexed).toEqual([100, 50]);
  });
});
