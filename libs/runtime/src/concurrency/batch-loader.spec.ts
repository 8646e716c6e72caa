import { BatchLoader } from './batch-loader.js';
import { TimeoutError } from './deadline.js';
import { Limiter } from './limiter.js';

interface Read {
  keys: readonly string[];
  deadline: number;
  /** Returns all values, or the first ones. */
  succeed: (count?: number) => void;
  fail: () => void;
}

describe('BatchLoader', () => {
  let loader: BatchLoader<string>;
  let reads: Read[];
  beforeEach(() => {
    // A batch on a busy machine must not become late by itself.
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    reads = [];
    loader = new BatchLoader(
      (keys, deadline) =>
        new Promise((resolve, reject) => {
          reads.push({
            keys,
            deadline,
            succeed: (count = Infinity) => {
              const found = keys.filter((key) => key !== 'none');
              const values = new Map(found.slice(0, count).map((key) => [key, `found ${key}`]));
              resolve({ values, areAll: count >= found.length });
            },
            fail: () => {
              reject(new Error('unavailable'));
            },
          });
        }),
    );
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  const load = (key: string, withinMs = 10_000): Promise<string | undefined> =>
    loader.load(key, performance.now() + withinMs);
  const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const keysRead = (): unknown => reads.map(({ keys }) => keys);

  it('a batch loader reads keys that are requested at the same time in one batch, each once', async () => {
    const found = Promise.all(['a', 'b', 'a', 'none'].map((key) => load(key)));
    await nextTurn();
    expect(keysRead()).toEqual([['a', 'b', 'none']]);
    reads[0]?.succeed();
    expect(await found).toEqual(['found a', 'found b', 'found a', undefined]);
  });

  it('a batch loader collects keys during two batches, and returns no value read before the request', async () => {
    for (const key of ['a', 'b', 'a', 'c']) {
      void load(key);
      await nextTurn();
    }
    expect(keysRead()).toEqual([['a'], ['b']]);
    reads[1]?.succeed();
    await nextTurn();
    expect(keysRead()).toEqual([['a'], ['b'], ['a', 'c']]);
  });

  it('a batch loader waits for one turn, however many callers request a key that waits', async () => {
    const run = jest.spyOn(Limiter.prototype, 'run');
    for (const key of ['a', 'b', 'c', 'c', 'c', 'c']) {
      void load(key);
      await nextTurn();
    }
    expect(keysRead()).toEqual([['a'], ['b']]);
    expect(run).toHaveBeenCalledTimes(3);
    run.mockRestore();
  });

  it('a batch loader reads at most 100 keys per batch', async () => {
    for (let key = 0; key < 150; key++) void load(String(key));
    await nextTurn();
    expect(reads.map(({ keys }) => keys.length)).toEqual([100, 50]);
  });

  it('a batch loader rejects only the keys of a batch that fails', async () => {
    const found = ['a', 'b', 'c'].map(async (key, index) => {
      while (reads.length < Math.min(index, 2)) await nextTurn();
      return load(key);
    });
    const settled = Promise.allSettled(found);
    while (reads.length < 2) await nextTurn();
    await nextTurn();
    reads[0]?.fail();
    await nextTurn();
    reads[1]?.succeed();
    reads[2]?.succeed();
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  });

  it('a batch loader returns the values that were read first, and then reads the others of the batch', async () => {
    const found = ['a', 'none', 'b', 'c'].map((key) => load(key));
    await nextTurn();
    reads[0]?.succeed(2);
    expect(await Promise.all([found[0], found[2]])).toEqual(['found a', 'found b']);
    await nextTurn();
    expect(keysRead()).toEqual([
      ['a', 'none', 'b', 'c'],
      ['none', 'c'],
    ]);
    reads[1]?.succeed();
    expect(await Promise.all([found[1], found[3]])).toEqual([undefined, 'found c']);
  });

  it('a batch loader rejects only the keys that were not read if reading the others of a batch fails', async () => {
    const found = Promise.allSettled(['a', 'b'].map((key) => load(key)));
    await nextTurn();
    reads[0]?.succeed(1);
    await nextTurn();
    reads[1]?.fail();
    expect((await found).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  it('a batch loader reads a batch by the latest of its deadlines, and rejects each caller at its own', async () => {
    const early = load('a', 20).catch((error: unknown) => error);
    const late = load('a', 10_000);
    await nextTurn();
    await jest.advanceTimersByTimeAsync(20);
    expect(await early).toBeInstanceOf(TimeoutError);
    expect((reads[0]?.deadline ?? 0) - performance.now()).toBeGreaterThan(5000);
    reads[0]?.succeed();
    expect(await late).toBe('found a');
  });

  it('a batch loader never reads a key whose callers have all timed out before its turn', async () => {
    void load('a');
    await nextTurn();
    void load('b');
    await nextTurn();
    const timedOut = load('c', 20).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(20);
    expect(await timedOut).toBeInstanceOf(TimeoutError);
    const found = load('d');
    reads[0]?.succeed();
    await nextTurn();
    expect(keysRead()).toEqual([['a'], ['b'], ['d']]);
    reads[2]?.succeed();
    expect(await found).toBe('found d');
  });

  describe('while batches are late', () => {
    const loadMany = async (count: number): Promise<void> => {
      for (let key = 0; key < count; key++) void load(String(key));
      await nextTurn();
    };

    it('a batch loader reads two more batches every 100 ms while the others are late, up to eight at a time', async () => {
      await loadMany(1000);
      const counts = [reads.length];
      for (let waited = 0; waited < 5; waited++) {
        await jest.advanceTimersByTimeAsync(100);
        counts.push(reads.length);
      }
      expect(counts).toEqual([2, 4, 6, 8, 8, 8]);
      reads[0]?.succeed();
      await nextTurn();
      expect(reads).toHaveLength(9);
    });

    it('a batch loader reads only two batches at a time again after the late ones have ended', async () => {
      await loadMany(300);
      await jest.advanceTimersByTimeAsync(100);
      expect(reads).toHaveLength(3);
      for (const read of reads) read.succeed();
      await nextTurn();
      await loadMany(500);
      expect(reads).toHaveLength(5);
    });
  });
});
