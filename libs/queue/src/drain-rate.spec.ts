import { DrainRate } from './drain-rate.js';

describe('DrainRate', () => {
  let rate: DrainRate;
  beforeEach(() => {
    jest.useFakeTimers();
    rate = new DrainRate();
  });
  afterEach(() => jest.useRealTimers());

  /** Observes the queue four times a second while `perSecond` jobs finish each second. */
  let finished = 0;
  const observe = (seconds: number, perSecond: number, waiting = 100): void => {
    for (let n = 0; n < seconds * 4; n++) {
      jest.advanceTimersByTime(250);
      finished += perSecond / 4;
      rate.observe({ at: performance.now(), waiting, finished });
    }
  };

  it('the drain rate is unknown until jobs have waited for a second', () => {
    observe(0.75, 40);
    expect(rate.drainMs(10)).toBeUndefined();
    observe(1, 40);
    expect(rate.drainMs(10)).toBe(250);
  });

  it('the drain rate is unknown while only a few jobs have finished', () => {
    observe(3, 2);
    expect(rate.drainMs(10)).toBeUndefined();
    observe(4, 2);
    expect(rate.drainMs(10)).toBe(5000);
  });

  it('the drain rate stays the last known one while no job finishes', () => {
    observe(2, 40);
    observe(20, 0);
    expect(rate.drainMs(10)).toBe(250);
    expect(rate.stalledMs).toBe(20_000);
  });

  it('the drain rate does not include a stall', () => {
    observe(2, 40);
    observe(5, 0);
    observe(2, 80);
    expect(rate.drainMs(10)).toBe(125);
    expect(rate.stalledMs).toBe(0);
  });

  it('the drain rate is forgotten when no jobs are waiting', () => {
    observe(2, 40);
    observe(1, 0, 0);
    expect(rate.drainMs(10)).toBeUndefined();
    jest.advanceTimersByTime(60_000);
    observe(0.25, 0);
    expect(rate.stalledMs).toBe(0);
  });
});
