import { DrainRate } from './drain-rate.js';

describe('the drain rate', () => {
  let rate: DrainRate;
  beforeEach(() => {
    jest.useFakeTimers();
    rate = new DrainRate();
  });
  afterEach(() => jest.useRealTimers());

  /** Looks four times a second, while `perSecond` jobs are finished. */
  let finished = 0;
  const look = (seconds: number, perSecond: number, waiting = 100): void => {
    for (let n = 0; n < seconds * 4; n++) {
      jest.advanceTimersByTime(250);
      finished += perSecond / 4;
      rate.observe({ at: performance.now(), waiting, finished });
    }
  };

  it('is unknown until jobs have waited for a second', () => {
    look(0.75, 40);
    expect(rate.drainMs(10)).toBeUndefined();
    look(1, 40);
    expect(rate.drainMs(10)).toBe(250);
  });

  it('is unknown while few jobs have been finished, as in a hiccup', () => {
    look(3, 2);
    expect(rate.drainMs(10)).toBeUndefined();
    look(4, 2);
    expect(rate.drainMs(10)).toBe(5000);
  });

  it('is the last known one while no job is finished', () => {
    look(2, 40);
    look(20, 0);
    expect(rate.drainMs(10)).toBe(250);
    expect(rate.stalledMs).toBe(20_000);
  });

  it('does not count a stall', () => {
    look(2, 40);
    look(5, 0);
    look(2, 80);
    expect(rate.drainMs(10)).toBe(125);
    expect(rate.stalledMs).toBe(0);
  });

  it('is forgotten when nothing waits any more', () => {
    look(2, 40);
    look(1, 0, 0);
    expect(rate.drainMs(10)).toBeUndefined();
    jest.advanceTimersByTime(60_000);
    look(0.25, 0);
    expect(rate.stalledMs).toBe(0);
  });
});
