import type { SearchBackfill } from '@app/items';
import { SearchIndexer } from './search-indexer.js';

const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `id-${String(index)}`);

describe('the indexer of new items', () => {
  let indexed: number[];
  let indexer: SearchIndexer;

  beforeEach(() => {
    jest.useFakeTimers();
    indexed = [];
    const runFor = (batch: readonly string[]): Promise<void> => {
      indexed.push(batch.length);
      return Promise.resolve();
    };
    indexer = new SearchIndexer({ runFor } as SearchBackfill);
  });
  afterEach(() => jest.useRealTimers());

  const after = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

  /** Creates that do not end. */
  const beBusy = (): void => void indexer.pauseWhile(new Promise(() => undefined));

  it('indexes soon after the last create, in batches', async () => {
    await indexer.pauseWhile(Promise.resolve());
    indexer.add(ids(250));
    await after(0);
    expect(indexed).toEqual([]);
    await after(400);
    expect(indexed).toEqual([100, 100, 50]);
  });

  it('waits while items are created, and a moment after', async () => {
    let done = (): void => undefined;
    const creates = indexer.pauseWhile(new Promise<void>((resolve) => (done = resolve)));
    indexer.add(ids(1));
    await after(1000);
    done();
    await creates;
    await after(249);
    expect(indexed).toEqual([]);
    await after(60);
    expect(indexed).toEqual([1]);
  });

  it('takes no gap between two batches of a burst for its end', async () => {
    await indexer.pauseWhile(Promise.resolve());
    indexer.add(ids(100));
    for (let batch = 0; batch < 20; batch++) {
      await after(200);
      await indexer.pauseWhile(Promise.resolve());
    }
    expect(indexed).toEqual([]);
  });

  it('leaves a burst for later, but not for ever', async () => {
    beBusy();
    indexer.add(ids(2000));
    await after(9900);
    expect(indexed).toEqual([]);
    await after(3000);
    // A batch and a pause in turn: what is created meanwhile goes on.
    expect(indexed.length).toBeGreaterThan(5);
    expect(indexed.length).toBeLessThan(12);
    await after(10_000);
    expect(indexed).toHaveLength(20);
  });

  it('puts off what comes many at a time, until as many wait as may', () => {
    expect([1, 15, 16, 128].map((creates) => indexer.shouldDefer(creates))).toEqual([false, false, true, true]);
    beBusy();
    indexer.add(ids(19_900));
    expect([100, 101].map((creates) => indexer.shouldDefer(creates))).toEqual([true, false]);
  });

  it('goes on after a batch that fails', async () => {
    let tries = 0;
    const failing = {
      runFor: () => (++tries === 1 ? Promise.reject(new Error('away')) : Promise.resolve()),
    } as unknown as SearchBackfill;
    indexer = new SearchIndexer(failing);
    indexer.add(ids(150));
    await after(200);
    expect(tries).toBe(2);
  });

  it('indexes what is due before it stops, as far as there is time', async () => {
    beBusy();
    indexer.add(ids(150));
    await after(10);
    const stopped = indexer.stop(1000);
    await after(50);
    await stopped;
    expect(indexed).toEqual([100, 50]);
  });
});
