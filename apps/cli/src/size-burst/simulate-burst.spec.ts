import { drainSecondsByFormula, simulateBurst, workersFor, type Burst } from './simulate-burst.js';

const BURST: Burst = { items: 12_800, workers: 4, workerRate: 100 };

describe('simulateBurst', () => {
  it('a simulated burst divides the creates that arrive at once among all workers', () => {
    const { seconds, mostWaiting, longestWaitS, timeline } = simulateBurst(BURST);
    expect(seconds).toBeCloseTo(32);
    expect(longestWaitS).toBeCloseTo(32);
    expect(mostWaiting).toBe(12_800);
    expect(timeline).toHaveLength(100);
    expect(timeline.at(-1)).toEqual([seconds, 12_800]);
  });

  it('a simulated burst ends with a batch that only one of the workers has', () => {
    expect(simulateBurst({ ...BURST, items: 513 }).seconds).toBeCloseTo(1.29);
    expect(drainSecondsByFormula({ ...BURST, items: 513 })).toBeCloseTo(1.2825);
    expect(simulateBurst({ ...BURST, items: 5 * 128 }).seconds).toBeCloseTo(2.56);
  });

  it('a simulated burst takes no longer than creates arrive if the workers are faster, and few creates wait', () => {
    const { seconds, mostWaiting, longestWaitS } = simulateBurst({ ...BURST, arrivalRate: 200 });
    expect(seconds).toBeGreaterThan(63.9);
    expect(seconds).toBeLessThan(64.1);
    expect(mostWaiting).toBeLessThanOrEqual(2);
    expect(longestWaitS).toBeLessThan(0.03);
  });

  it('a simulated burst ends even if creates arrive so rarely that their times are rounded', () => {
    expect(simulateBurst({ ...BURST, items: 1000, arrivalRate: 1e-5 }).timeline).toHaveLength(1000);
  });

  it('a simulated burst lets creates wait that arrive faster than the workers store', () => {
    const { seconds, mostWaiting, longestWaitS } = simulateBurst({ ...BURST, arrivalRate: 800 });
    // They arrive in 16 s. Half of them are stored by then.
    expect(seconds).toBeGreaterThan(32);
    expect(seconds).toBeLessThan(33);
    expect(mostWaiting).toBeGreaterThan(5800);
    expect(mostWaiting).toBeLessThanOrEqual(6401);
    expect(longestWaitS).toBeGreaterThan(16);
    expect(longestWaitS).toBeLessThan(17.3);
  });

  it('a simulated burst stores each create once, in the order of time', () => {
    const { timeline } = simulateBurst({ ...BURST, items: 10_001, workers: 7, arrivalRate: 333 });
    expect(timeline.at(-1)?.[1]).toBe(10_001);
    expect(timeline).toEqual(timeline.toSorted(([a, b], [c, d]) => a - c || b - d));
  });
});

describe('workersFor', () => {
  it('workersFor returns the least number of workers that stores the burst in time', () => {
    expect(workersFor(BURST, 32)).toBe(4);
    expect(workersFor(BURST, 31.9)).toBe(5);
    expect(workersFor(BURST, 1000)).toBe(1);
  });

  it('workersFor returns more workers than the formula if the last batches are unevenly divided', () => {
    // The formula says 5 workers. Each has to store 6.4 batches.
    expect(workersFor({ ...BURST, items: 32 * 128 }, 8.3)).toBe(6);
  });

  it('workersFor returns undefined if creates arrive until later, or a batch takes longer', () => {
    expect(workersFor({ ...BURST, arrivalRate: 100 }, 120)).toBeUndefined();
    expect(workersFor(BURST, 1)).toBeUndefined();
    expect(workersFor({ ...BURST, concurrency: 64 }, 1)).toBe(200);
  });
});
