import type { MaintenanceRepository } from '@app/database';
import type { SearchBackfill } from '@app/items';
import { TimeoutError, type Logger } from '@app/runtime';
import { MaintenanceScheduler } from './maintenance.scheduler.js';

describe('MaintenanceScheduler', () => {
  let runs: { boosts: number; search: number };
  let warnings: unknown[];
  /** What a run does. By default, it ends at once. */
  let boosts: () => Promise<number>;
  let search: (options: { stop: AbortSignal }) => Promise<number>;
  let scheduler: MaintenanceScheduler;

  beforeEach(() => {
    jest.useFakeTimers();
    runs = { boosts: 0, search: 0 };
    warnings = [];
    boosts = search = () => Promise.resolve(0);
    const items = { clearLapsedBoosts: () => (runs.boosts++, boosts()) } as unknown as MaintenanceRepository;
    const run = (_: Date, options: { stop: AbortSignal }): Promise<number> => (runs.search++, search(options));
    const backfill = { run } as unknown as SearchBackfill;
    scheduler = new MaintenanceScheduler(items, backfill, {
      warn: (fields: unknown) => warnings.push(fields),
    } as unknown as Logger);
  });
  afterEach(() => jest.useRealTimers());

  const after = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

  it('maintenance clears lapsed boosts every 5 seconds and derives search terms every 20 seconds until it stops', async () => {
    scheduler.start();
    await after(0);
    expect(runs).toEqual({ boosts: 1, search: 1 });
    await after(60_000);
    expect(runs).toEqual({ boosts: 13, search: 4 });
    await scheduler.stop();
    await after(60_000);
    expect(runs).toEqual({ boosts: 13, search: 4 });
  });

  it('maintenance clears lapsed boosts while it derives search terms, which it does not do concurrently', async () => {
    search = () => new Promise(() => undefined);
    scheduler.start();
    await after(60_000);
    expect(runs).toEqual({ boosts: 13, search: 1 });
  });

  it('maintenance runs again after a run that fails', async () => {
    boosts = () => Promise.reject(new Error('unavailable'));
    scheduler.start();
    await after(10_000);
    expect([runs.boosts, warnings.length]).toEqual([3, 3]);
  });

  it('maintenance logs the error of a run that fails, or only why MongoDB is unavailable', async () => {
    const error = new Error('not authorized');
    boosts = () => Promise.reject(error);
    search = () => Promise.reject(new TimeoutError('no reply'));
    scheduler.start();
    await after(0);
    expect(warnings).toEqual([{ err: error }, { reason: 'no reply' }]);
  });

  it('maintenance tells a run to end when it stops', async () => {
    const signals: AbortSignal[] = [];
    search = ({ stop }) => {
      signals.push(stop);
      return new Promise(() => undefined);
    };
    scheduler.start();
    void scheduler.stop();
    expect(signals).toMatchObject([{ aborted: true }]);
    await after(1000);
  });

  it('maintenance logs no error if the end of the process interrupts a run', async () => {
    let interrupt: (error: Error) => void = () => undefined;
    search = () => new Promise((_resolve, reject) => (interrupt = reject));
    scheduler.start();
    const stopped = scheduler.stop();
    await after(1000);
    await stopped;
    interrupt(new Error('the client was closed'));
    await after(0);
    expect(warnings).toEqual([]);
  });

  it('maintenance waits at most one second for a run when it stops', async () => {
    search = () => new Promise(() => undefined);
    scheduler.start();
    const stopped = scheduler.stop();
    await after(1000);
    await expect(stopped).resolves.toBeUndefined();
  });
});
