import { MAX_NEW_WINDOWS } from './new-windows.js';
import { QuotaLimiter, type Taken } from './quota-limiter.js';
import type { Count, Counter } from './shared-counter.js';

const QUOTA = { count: 100, seconds: 60 };

/** Counts as Redis does, in memory. */
class MemoryCounter implements Counter {
  isUnavailable = false;
  asked = 0;
  until = performance.now() + 60_000;
  readonly totals = new Map<string, number>();

  async add(caller: string, units: number): Promise<Count | undefined> {
    this.asked++;
    await Promise.resolve();
    if (this.isUnavailable) return undefined;
    const total = (this.totals.get(caller) ?? 0) + units;
    this.totals.set(caller, total);
    return { total, until: this.until };
  }

  /** Begins a new window. */
  reset(): void {
    this.totals.clear();
    this.until = performance.now() + 60_000;
  }
}

async function takeAll(limiters: QuotaLimiter[], times: number, units = 1): Promise<number> {
  let granted = 0;
  for (let at = 0; at < times; at++) {
    const limiter = limiters[at % limiters.length];
    if ((await limiter?.take('alice', units, false))?.isGranted === true) granted++;
  }
  return granted;
}

describe('a quota', () => {
  let counter: MemoryCounter;
  let limiter: QuotaLimiter;

  beforeEach(() => {
    jest.useFakeTimers();
    counter = new MemoryCounter();
    limiter = new QuotaLimiter(QUOTA, counter);
  });
  afterEach(() => jest.useRealTimers());

  it('a quota grants one caller exactly its limit, however many requests come at the same time', async () => {
    const taken = await Promise.all(Array.from({ length: 300 }, () => limiter.take('alice', 1, true)));
    expect(taken.filter(({ isGranted }) => isGranted)).toHaveLength(100);
    expect((await limiter.take('bob', 1, true)).isGranted).toBe(true);
  });

  it('a quota is never exceeded by several instances, and nearly used up', async () => {
    const instances = Array.from({ length: 4 }, () => new QuotaLimiter(QUOTA, counter));
    const granted = await takeAll(instances, 400);
    expect(granted).toBeLessThanOrEqual(100);
    expect(granted).toBeGreaterThanOrEqual(90);
  });

  it('a quota loses little to instances that get no more requests', async () => {
    const others = Array.from({ length: 10 }, () => new QuotaLimiter(QUOTA, counter));
    await takeAll(others, 10);
    expect(await takeAll([limiter], 200)).toBe(90);
  });

  it('a quota asks the counter for few of many requests, and for none once it is used up', async () => {
    const large = new QuotaLimiter({ count: 100_000, seconds: 60 }, counter);
    expect(await takeAll([large], 50_000)).toBe(50_000);
    expect(counter.asked).toBeLessThan(40);
    await takeAll([limiter], 200);
    const { asked } = counter;
    expect(await takeAll([limiter], 200)).toBe(0);
    expect(counter.asked).toBe(asked);
  });

  it('a quota says what is left and when the window ends', async () => {
    await takeAll([limiter], 30);
    expect(await limiter.take('alice', 1, false)).toEqual({ isGranted: true, left: 69, until: counter.until });
    await takeAll([limiter], 100);
    expect(await limiter.take('alice', 1, false)).toEqual({ isGranted: false, left: 0, until: counter.until });
  });

  it('a quota is new in each window, and units of the last window are not granted', async () => {
    counter.until = performance.now() + 20;
    await takeAll([limiter], 50);
    jest.advanceTimersByTime(20);
    counter.reset();
    expect(await takeAll([limiter], 200)).toBe(100);
  });

  it('a quota grants requests of several units', async () => {
    expect(await takeAll([limiter], 5, 30)).toBe(3);
    expect(await takeAll([limiter], 5, 5)).toBe(2);
  });

  it('a quota is that of the instance while the counter is unavailable, and not granted to requests that must be counted', async () => {
    await takeAll([limiter], 100);
    expect((await limiter.take('alice', 1, false)).isGranted).toBe(false);
    counter.isUnavailable = true;
    expect(await takeAll([new QuotaLimiter(QUOTA, counter)], 200)).toBe(100);
    await expect(limiter.take('bob', 1, true)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect((await limiter.take('bob', 1, false)).isGranted).toBe(true);
    await expect(limiter.take('bob', 1, true)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    counter.isUnavailable = false;
    expect(await limiter.take('bob', 1, true)).toMatchObject({ isGranted: true, left: 98 });
  });

  it('a quota grants no units that other instances are known to have taken, while the counter is unavailable', async () => {
    await takeAll([new QuotaLimiter(QUOTA, counter)], 90);
    const { left } = await limiter.take('alice', 1, false);
    expect(left).toBeLessThan(10);
    counter.isUnavailable = true;
    expect(await takeAll([limiter], 200)).toBe(left);
  });

  it.each([60, 0])(
    'a quota is not exceeded after %i requests because the counter is unavailable for a while',
    async (before) => {
      await takeAll([limiter], before);
      counter.isUnavailable = true;
      expect(await takeAll([limiter], 30)).toBe(30);
      counter.isUnavailable = false;
      expect(await takeAll([limiter], 200)).toBe(70 - before);
      counter.isUnavailable = true;
      expect(await takeAll([limiter], 200)).toBe(0);
      counter.isUnavailable = false;
      expect(await takeAll([limiter], 200)).toBe(0);
    },
  );

  it('a quota is counted for a limited number of callers, and by the instance alone for others', async () => {
    const small = new QuotaLimiter({ count: 2, seconds: 60 }, counter);
    const exceeding = [];
    for (let caller = 0; caller < MAX_NEW_WINDOWS + 100; caller++) {
      const take = (): Promise<Taken> => small.take(String(caller), 1, true);
      const taken = [await take(), await take(), await take()];
      if (taken.map(({ isGranted }) => isGranted).join() !== 'true,true,false') exceeding.push(caller);
    }
    expect(exceeding).toEqual([]);
    expect(counter.totals.size).toBe(MAX_NEW_WINDOWS);
    jest.advanceTimersByTime(60_000);
    counter.reset();
    expect(await small.take(String(MAX_NEW_WINDOWS), 1, true)).toMatchObject({ isGranted: true, left: 1 });
  });
});
