import { MicroBatcher } from './micro-batcher.js';

/** A batch that has been begun, and is done when the test says so. */
interface Begun {
  inputs: number[];
  done: (outputs: (string | Error)[]) => void;
  fail: (error: Error) => void;
}

describe('a micro-batcher', () => {
  let begun: Begun[];
  let batcher: MicroBatcher<number, string>;
  beforeEach(() => {
    begun = [];
    const run = (inputs: number[]): Promise<(string | Error)[]> =>
      new Promise((done, fail) => begun.push({ inputs, done, fail }));
    batcher = new MicroBatcher(run, 3, 2);
  });

  const addMany = (...inputs: number[]): Promise<string>[] => inputs.map((input) => batcher.add(input));
  const inputs = (): number[][] => begun.map((batch) => batch.inputs);
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const finish = (index: number): void => {
    const batch = begun[index];
    batch?.done(batch.inputs.map((input) => `done ${String(input)}`));
  };

  it('begins with a single one at the end of the turn', async () => {
    const [adding] = addMany(1);
    expect(inputs()).toEqual([]);
    await turn();
    expect(inputs()).toEqual([[1]]);
    finish(0);
    expect(await adding).toBe('done 1');
  });

  it('does together what comes in one turn, in batches of limited size', async () => {
    const adding = addMany(1, 2, 3, 4);
    await turn();
    expect(inputs()).toEqual([[1, 2, 3], [4]]);
    finish(1);
    finish(0);
    expect(await Promise.all(adding)).toEqual(['done 1', 'done 2', 'done 3', 'done 4']);
  });

  it('begins no more batches than it may, and goes on when one is done', async () => {
    const adding = addMany(1, 2, 3, 4, 5, 6, 7, 8);
    await turn();
    adding.push(...addMany(9));
    await turn();
    expect(inputs()).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    finish(1);
    await turn();
    expect(inputs().slice(2)).toEqual([[7, 8, 9]]);
    finish(0);
    finish(2);
    expect(await Promise.all(adding)).toHaveLength(9);
  });

  it('works on when it was idle for a while', async () => {
    for (let round = 0; round < 3; round++) {
      const [adding] = addMany(round);
      await turn();
      finish(round);
      expect(await adding).toBe(`done ${String(round)}`);
    }
  });

  it('rejects one of a batch, and none of its neighbours', async () => {
    const adding = addMany(1, 2, 3);
    await turn();
    begun[0]?.done(['a', new Error('broken'), 'c']);
    expect(await Promise.allSettled(adding)).toEqual([
      { status: 'fulfilled', value: 'a' },
      { status: 'rejected', reason: new Error('broken') },
      { status: 'fulfilled', value: 'c' },
    ]);
  });

  it('rejects all of a batch that fails, and goes on with the next', async () => {
    const adding = addMany(1, 2);
    await turn();
    begun[0]?.fail(new Error('away'));
    for (const one of adding) await expect(one).rejects.toThrow('away');
    const [next] = addMany(3);
    await turn();
    finish(1);
    expect(await next).toBe('done 3');
  });

  it('rejects what a batch says nothing about', async () => {
    const adding = addMany(1, 2);
    await turn();
    begun[0]?.done(['a']);
    expect(await adding[0]).toBe('a');
    await expect(adding[1]).rejects.toThrow('too few');
  });
});
