import { settledBy, settledWithin } from './settled-by.js';

const NEVER = new Promise<string>(() => undefined);

describe('a wait', () => {
  it('returns what the promise resolves to', async () => {
    expect(await settledWithin(10_000, Promise.resolve('result'))).toBe('result');
    expect(await settledBy(performance.now() + 10_000, Promise.resolve('result'))).toBe('result');
  });

  it('returns undefined when its time is up, or was before', async () => {
    expect(await settledWithin(1, NEVER)).toBeUndefined();
    expect(await settledBy(performance.now() - 1, NEVER)).toBeUndefined();
  });

  it('returns undefined when the promise rejects, or nobody wants it any more', async () => {
    expect(await settledWithin(10_000, Promise.reject<string>(new Error('failed')))).toBeUndefined();
    expect(await settledWithin(10_000, NEVER, Promise.resolve())).toBeUndefined();
  });
});
