import { GatheredReads } from './gathered-reads.js';

describe('gathered reads', () => {
  let reads: GatheredReads<string>;
  let begun: { keys: readonly string[]; answer: () => void; fail: () => void }[];
  beforeEach(() => {
    begun = [];
    reads = new GatheredReads(
      (keys) =>
        new Promise((resolve, reject) => {
          begun.push({
            keys,
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

  const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const keysRead = (): unknown => begun.map(({ keys }) => keys);

  it('reads together what is asked for at the same moment, each once', async () => {
    const found = Promise.all(['a', 'b', 'a', 'none'].map((key) => reads.ask(key)));
    await nextTurn();
    expect(keysRead()).toEqual([['a', 'b', 'none']]);
    begun[0]?.answer();
    expect(await found).toEqual(['found a', 'found b', 'found a', undefined]);
  });

  it('gathers while two reads are under way, and answers none with what began before it was asked for', async () => {
    for (const key of ['a', 'b', 'a', 'c']) {
      void reads.ask(key);
      await nextTurn();
    }
    expect(keysRead()).toEqual([['a'], ['b']]);
    begun[1]?.answer();
    await nextTurn();
    expect(keysRead()).toEqual([['a'], ['b'], ['a', 'c']]);
  });

  it('reads at most 500 at a time', async () => {
    for (let key = 0; key < 700; key++) void reads.ask(String(key));
    await nextTurn();
    expect(begun.map(({ keys }) => keys.length)).toEqual([500, 200]);
  });

  it('fails all who wait when a read fails, and works again after', async () => {
    const asked = ['a', 'b', 'c'].map(async (key) => {
      const found = reads.ask(key);
      await nextTurn();
      return found;
    });
    const both = Promise.allSettled(asked);
    await nextTurn();
    begun.forEach(({ fail }) => {
      fail();
    });
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    const again = reads.ask('a');
    await nextTurn();
    begun.at(-1)?.answer();
    expect(await again).toBe('found a');
  });
});
