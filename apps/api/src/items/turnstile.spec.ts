import { Turnstile } from './turnstile.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a turnstile', () => {
  let turnstile: Turnstile;
  let through: number[];
  let perTurn: number;
  beforeEach(() => {
    perTurn = 2;
    turnstile = new Turnstile(() => perTurn);
    through = [];
  });

  const come = (...visitors: number[]): void => {
    for (const visitor of visitors) void turnstile.pass().then(() => through.push(visitor));
  };

  it('lets a few through at once', async () => {
    come(1, 2);
    await Promise.resolve();
    expect(through).toEqual([1, 2]);
  });

  it('lets a crowd through in order, a few in each turn of the event loop', async () => {
    come(1, 2, 3, 4, 5);
    await Promise.resolve();
    expect(through).toEqual([1, 2]);
    await turn();
    expect(through).toEqual([1, 2, 3, 4]);
    await turn();
    expect(through).toEqual([1, 2, 3, 4, 5]);
  });

  it('lets nobody pass those that wait', async () => {
    come(1, 2, 3, 4);
    await turn();
    come(5);
    await Promise.resolve();
    expect(through).toEqual([1, 2, 3, 4]);
    await turn();
    expect(through).toEqual([1, 2, 3, 4, 5]);
  });

  it('lets fewer through from the next turn on when that is wanted', async () => {
    come(1, 2, 3, 4, 5);
    perTurn = 1;
    await turn();
    expect(through).toEqual([1, 2, 3]);
    perTurn = 3;
    await turn();
    expect(through).toEqual([1, 2, 3, 4, 5]);
  });

  it('lets nobody else through in a turn in which that becomes wanted', async () => {
    come(1, 2);
    perTurn = 1;
    come(3);
    await Promise.resolve();
    expect(through).toEqual([1, 2]);
    await turn();
    expect(through).toEqual([1, 2, 3]);
  });

  it('lets nobody pass those that wait when more may come through in the same turn', async () => {
    come(1, 2, 3);
    perTurn = 3;
    come(4);
    await Promise.resolve();
    expect(through).toEqual([1, 2]);
    await turn();
    expect(through).toEqual([1, 2, 3, 4]);
  });

  it('is open again when the crowd has gone', async () => {
    come(1, 2, 3);
    await turn();
    await turn();
    come(4, 5);
    await Promise.resolve();
    expect(through).toEqual([1, 2, 3, 4, 5]);
  });
});
