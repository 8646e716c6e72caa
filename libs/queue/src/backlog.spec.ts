import { Backlog } from './backlog.js';
import type { RedisConnection } from './redis.js';

const LIMITS = { jobs: 1000, bytes: 10_000 };
const WAIT_MS = 10_000;

describe('Backlog', () => {
  let counts: { waiting: number; finished: number; bytes: number };
  let usedMemory: number;
  let backlog: Backlog;
  beforeEach(() => {
    jest.useFakeTimers();
    counts = { waiting: 0, finished: 0, bytes: 0 };
    usedMemory = 0;
    const reply = (): unknown => {
      const { waiting, finished, bytes } = counts;
      return [[waiting, 0, 0, 0, finished, bytes, 0, 0], `used_memory:${String(usedMemory)}\nmaxmemory:100\n`];
    };
    const redis = { eval: () => Promise.resolve(reply()) } as unknown as RedisConnection;
    backlog = new Backlog(
      redis,
      (name) => name,
      LIMITS,
      () => undefined,
    );
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const refusal = async (): Promise<string | undefined> =>
    ((await backlog.admit(1, WAIT_MS)) ?? backlog.refuseWait(WAIT_MS))?.reason;

  it('admits creates while no limit is reached', async () => {
    counts.waiting = LIMITS.jobs - 1;
    expect(await refusal()).toBeUndefined();
  });

  it.each([
    ['jobs', () => (counts.waiting = LIMITS.jobs)],
    ['bytes', () => (counts.bytes = LIMITS.bytes)],
    ['memory', () => (usedMemory = 71)],
  ])('refuses creates because of the limit that is reached: %s', async (reason, reach) => {
    reach();
    expect(await refusal()).toBe(reason);
    expect(await backlog.state()).toMatchObject({ refuses: reason });
  });

  it('refuses creates as stalled if jobs wait and none finishes for longer than their clients wait', async () => {
    counts.waiting = 10;
    expect(await refusal()).toBeUndefined();
    jest.advanceTimersByTime(WAIT_MS + 1000);
    expect(await refusal()).toBe('stalled');
  });

  it('refuses creates as slow if the jobs before them take longer than their clients wait', async () => {
    counts.waiting = 500;
    expect(await refusal()).toBeUndefined();
    for (let second = 1; second <= 5; second++) {
      jest.advanceTimersByTime(1000);
      counts.finished += 10;
      await backlog.state();
    }
    expect(await refusal()).toBe('slow');
  });

  it('refuses creates of a seller as such', () => {
    expect(backlog.refuseSeller()).toMatchObject({ reason: 'seller' });
  });
});
