import { settledBy, settledWithin } from './deadline.js';

const NEVER = new Promise<string>(() => undefined);

describe('settledWithin and settledBy', () => {
  it('settledWithin and settledBy return the value of the promise', async () => {
    expect(await settledWithin(10_000, Promise.resolve('result'))).toBe('result');
    expect(await settledBy(performance.now() + 10_000, Promise.resolve('result'))).toBe('result');
  });

  it('settledWithin and settledBy return undefined when the time is up, or was up before', async () => {
    expect(await settledWithin(1, NEVER)).toBeUndefined();
    expect(await settledBy(performance.now() - 1, NEVER)).toBeUndefined();
  });

  it('settledWithin and settledBy return undefined if the promise rejects, or if its value is no longer wanted', async () => {
    expect(await settledWithin(10_000, Promise.reject<string>(new Error('failed')))).toBeUndefined();
    expect(await settledWithin(10_000, NEVER, Promise.resolve())).toBeUndefined();
  });
});
