import { TraceLimiter } from './trace-limiter.js';

describe('TraceLimiter', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('a trace limiter allows the first traces of each second', () => {
    const limiter = new TraceLimiter(2);
    const three = (): boolean[] => [limiter.mayBegin(), limiter.mayBegin(), limiter.mayBegin()];
    expect(three()).toEqual([true, true, false]);
    jest.advanceTimersByTime(1000);
    expect(three()).toEqual([true, true, false]);
  });
});
