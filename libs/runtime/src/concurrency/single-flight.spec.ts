import { TimeoutError } from './deadline.js';
import { SingleFlight } from './single-flight.js';

describe('SingleFlight', () => {
  let flights: SingleFlight<number>;
  let reads: { deadline: number; resolve: (value: number) => void; reject: (error: Error) => void }[];
  beforeEach(() => {
    flights = new SingleFlight();
    reads = [];
  });

  afterEach(async () => {
    // Pending loads would keep the process alive.
    for (let round = 0; round < 3; round++) {
      for (const read of reads) read.resolve(0);
      await nextTurn();
    }
  });

  const load = (key = 'a', withinMs = 10_000): Promise<number> =>
    flights.load(
      key,
      performance.now() + withinMs,
      (deadline) => new Promise((resolve, reject) => reads.push({ deadline, resolve, reject })),
    );
  const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('a single flight never returns the result of a read that began before the call', async () => {
    const first = load();
    const [second, third] = [load(), load()];
    expect(reads).toHaveLength(1);
    reads[0]?.resolve(1);
    expect(await first).toBe(1);
    await nextTurn();
    const fourth = load();
    expect(reads).toHaveLength(2);
    reads[1]?.resolve(2);
    expect(await Promise.all([second, third])).toEqual([2, 2]);
    await nextTurn();
    reads[2]?.resolve(3);
    expect(await fourth).toBe(3);
  });

  it('a single flight reads each key independently', async () => {
    const [one, other] = [load('a'), load('b')];
    reads[1]?.resolve(2);
    expect(await other).toBe(2);
    reads[0]?.resolve(1);
    expect(await one).toBe(1);
  });

  it('a single flight starts a new read once the last one has ended', async () => {
    for (const value of [1, 2]) {
      const read = load();
      reads.at(-1)?.resolve(value);
      expect(await read).toBe(value);
    }
  });

  it('a single flight reads again for callers that waited for a failed read', async () => {
    const [first, second] = [load(), load()];
    reads[0]?.reject(new Error('unavailable'));
    await expect(first).rejects.toThrow('unavailable');
    await nextTurn();
    reads[1]?.resolve(2);
    expect(await second).toBe(2);
  });

  it('a single flight rejects each caller at its own deadline, and keeps reading for the others', async () => {
    void load();
    const early = load('a', 20);
    const late = load('a', 10_000);
    await expect(early).rejects.toThrow(TimeoutError);
    reads[0]?.resolve(1);
    await nextTurn();
    expect((reads[1]?.deadline ?? 0) - performance.now()).toBeGreaterThan(5000);
    reads[1]?.resolve(2);
    expect(await late).toBe(2);
  });
});
