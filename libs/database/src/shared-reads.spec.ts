import { SharedReads } from './shared-reads.js';

describe('shared reads', () => {
  let reads: SharedReads<number>;
  let begun: { answer: (value: number) => void; fail: (error: Error) => void }[];
  beforeEach(() => {
    reads = new SharedReads();
    begun = [];
  });

  const ask = (key = 'a'): Promise<number> =>
    reads.ask(key, () => new Promise((answer, fail) => begun.push({ answer, fail })));

  it('never answer with a read that began before one asked', async () => {
    const first = ask();
    const [second, third] = [ask(), ask()];
    expect(begun).toHaveLength(1);
    begun[0]?.answer(1);
    expect(await first).toBe(1);
    const fourth = ask();
    expect(begun).toHaveLength(2);
    begun[1]?.answer(2);
    expect(await Promise.all([second, third])).toEqual([2, 2]);
    begun[2]?.answer(3);
    expect(await fourth).toBe(3);
  });

  it('are apart for each key', async () => {
    const [one, other] = [ask('a'), ask('b')];
    begun[1]?.answer(2);
    expect(await other).toBe(2);
    begun[0]?.answer(1);
    expect(await one).toBe(1);
  });

  it('begin anew when the last one is over', async () => {
    for (const value of [1, 2]) {
      const read = ask();
      begun.at(-1)?.answer(value);
      expect(await read).toBe(value);
    }
  });

  it('fail together, and work again after', async () => {
    const both = Promise.allSettled([ask(), ask()]);
    begun[0]?.fail(new Error('away'));
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const again = ask();
    begun[1]?.answer(1);
    expect(await again).toBe(1);
  });
});
