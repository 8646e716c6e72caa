import { BatchLoader } from './batch-loader.js';
import { DatabaseTimeout } from './deadline.js';

interface Read {
  keys: readonly string[];
  deadline: number;
  answer: () => void;
  fail: () => void;
}

describe('a batch loader', () => {
  let loader: BatchLoader<string>;
  let reads: Read[];
  beforeEach(() => {
    reads = [];
    loader = new BatchLoader(
      (keys, deadline) =>
        new Promise((resolve, reject) => {
          reads.push({
            keys,
            deadline,
            answer: () => {
              resolve(new Map(keys.filter((key) => key !== 'none').map((key) => [key, `found ${key}`])));
            },
            fail: () => {
              reject(new Error('away'));
            },
          });
        }),
    );
  });

  afterEach(async () => {
    // What is still waited for would keep the process alive.
    for (let round = 0; round < 3; round++) {
      for (const read of reads) read.answer();
      await nextTurn();
    }
  });

  const load = (key: string, withinMs = 10_000): Promise<string | undefined> =>
    loader.load(key, performance.now() + withinMs);
  const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const keysRead = (): unknown => reads.map(({ keys }) => keys);

  it('reads the keys of one moment together, each once', async () => {
    const found = Promise.all(['a', 'b', 'a', 'none'].map((key) => load(key)));
    await nextTurn();
    expect(keysRead()).toEqual([['a', 'b', 'none']]);
    reads[0]?.answer();
    expect(await found).toEqual(['found a', 'found b', 'found a', undefined]);
  });

  it('collects keys while two batches are read, and returns nothing that was read before it was asked for', async () => {
    for (const key of ['a', 'b', 'a', 'c']) {
      void load(key);
      await nextTurn();
    }
    expect(keysRead()).toEqual([['a'], ['b']]);
    reads[1]?.answer();
    await nextTurn();
    expect(keysRead()).toEqual([['a'], ['b'], ['a', 'c']]);
  });

  it('reads at most 100 keys at a time', async () => {
    for (let key = 0; key < 150; key++) void load(String(key));
    await nextTurn();
    expect(reads.map(({ keys }) => keys.length)).toEqual([100, 50]);
  });

  it('fails only the keys of a batch that fails', async () => {
    const found = ['a', 'b', 'c'].map(async (key, index) => {
      while (reads.length < Math.min(index, 2)) await nextTurn();
      return load(key);
    });
    const settled = Promise.allSettled(found);
    while (reads.length < 2) await nextTurn();
    await nextTurn();
    reads[0]?.fail();
    await nextTurn();
    reads[1]?.answer();
    reads[2]?.answer();
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  });

  it('reads a batch by the latest of its deadlines, and fails each caller at its own', async () => {
    const early = load('a', 20);
    const late = load('a', 10_000);
    await nextTurn();
    await expect(early).rejects.toThrow(DatabaseTimeout);
    expect((reads[0]?.deadline ?? 0) - performance.now()).toBeGreaterThan(5000);
    reads[0]?.answer();
    expect(await late).toBe('found a');
  });

  it('never reads a key whose callers have given up before its turn', async () => {
    void load('a');
    await nextTurn();
    void load('b');
    await nextTurn();
    const over = performance.now() + 20;
    await expect(load('c', 20)).rejects.toThrow(DatabaseTimeout);
    // Timers may fire a little early.
    while (performance.now() <= over + 1) await nextTurn();
    const found = load('d');
    reads[0]?.answer();
    await nextTurn();
    expect(keysRead()).toEqual([['a'], ['b'], ['d']]);
    reads[2]?.answer();
    expect(await found).toBe('found d');
  });
});
