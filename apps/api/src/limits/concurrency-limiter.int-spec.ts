import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createRedis, removeDatabaseServers, startRedis } from '../../../../test/support/database-servers.js';
import { eventually } from '../../../../test/support/eventually.js';
import { patient } from '../../../../test/support/patient.js';
import type { ApiResponse } from '../http/api-message.js';
import { ConcurrencyLimiter, MAX_CALLERS } from './concurrency-limiter.js';
import { LimitsRedis } from './limits-redis.js';

/** Long enough to notice that nothing is done meanwhile. */
const NOTHING_DONE_MS = 300;
/** After this time, the slots of an instance that has died have expired. */
const EXPIRED_MS = 3300;
/** Before this time, they have not. */
const RESERVED_MS = 2900;
/** How often an instance renews its reservations. */
const RENEW_MS = 1000;
/** How long Redis does not reply. */
const PAUSED_MS = 200;
/** After this time, an instance has noticed which of its slots are free, and Redis has not replied yet. */
const NOTICED_MS = 50;
/** A reservation that lasts as long does not end during a test. */
const LASTING_MS = 60_000;
/** The most by which a clock advances that stands still when the process does. */
const LONGEST_STEP_MS = 20;

describe('a limit of requests at the same time', () => {
  const report = jest.fn<undefined, [line: string]>();
  let url: string;
  let redis: LimitsRedis;
  let prefix: string;
  let limiters: ConcurrencyLimiter[];
  let responses: EventEmitter[];

  beforeAll(async () => {
    const server = await createRedis();
    await startRedis(server);
    ({ url } = server);
    redis = new LimitsRedis(url, report);
    patient(redis.connection);
    await redis.waitUntilReady();
  });
  beforeEach(() => {
    prefix = `{test-${randomUUID()}}`;
    limiters = [];
    responses = [];
    report.mockClear();
    ignoreStandstill();
  });
  afterEach(() => {
    endAll();
    for (const limiter of limiters) limiter.close();
    jest.restoreAllMocks();
  });
  afterAll(async () => {
    redis.disconnect();
    await removeDatabaseServers();
  });

  /** Lets no request wait too long, and no reservation end, while the process stands still. */
  function ignoreStandstill(): void {
    const evaluate = redis.connection.eval.bind(redis.connection) as (...args: unknown[]) => Promise<unknown>;
    const evaluateLasting = (...args: unknown[]): Promise<unknown> => evaluate(...args.slice(0, -1), LASTING_MS);
    jest.spyOn(redis.connection, 'eval').mockImplementation(evaluateLasting);
    const realNow = performance.now.bind(performance);
    let [now, last] = [realNow(), realNow()];
    jest.spyOn(performance, 'now').mockImplementation(() => {
      const since = last;
      last = realNow();
      now += Math.min(last - since, LONGEST_STEP_MS);
      return now;
    });
  }
  function stopClock(): void {
    jest.spyOn(performance, 'now').mockReturnValue(performance.now());
  }
  /** Returns the result of an attempt with the real clock. Tries again, for another caller, if it took too long. */
  async function inTime<Result>(withinMs: number, attempt: (caller: string) => Promise<Result>): Promise<Result> {
    jest.restoreAllMocks();
    for (;;) {
      const since = performance.now();
      const result = await attempt(randomUUID());
      if (performance.now() - since < withinMs) return result;
    }
  }

  const keys = (): Promise<string[]> => redis.connection.keys(`${prefix}*`);
  /** Waits until no slot is reserved. */
  const untilReturned = (): Promise<void> =>
    eventually(async () => {
      expect(await keys()).toEqual([]);
    });
  function instances(count: number, limit: number): ConcurrencyLimiter[] {
    const created = Array.from({ length: count }, () => new ConcurrencyLimiter(limit, redis, prefix));
    limiters.push(...created);
    return created;
  }
  const instance = (limit: number): ConcurrencyLimiter => instances(1, limit)[0] as ConcurrencyLimiter;
  /** Begins a request. Returns what ends it, or undefined if it is refused. */
  async function begin(limiter: ConcurrencyLimiter, caller = 'alice'): Promise<(() => void) | undefined> {
    const response = Object.assign(new EventEmitter(), { closed: false, req: { socket: { destroyed: false } } });
    if (!(await limiter.enter(caller, response as unknown as ApiResponse, true))) return undefined;
    responses.push(response);
    return () => {
      responses.splice(responses.indexOf(response), 1);
      response.emit('close');
    };
  }
  function endAll(): void {
    for (const response of responses.splice(0)) response.emit('close');
  }
  async function beginAll(limiter: ConcurrencyLimiter, count: number, caller?: string): Promise<number> {
    const begun = await Promise.all(Array.from({ length: count }, () => begin(limiter, caller)));
    return begun.filter((end) => end !== undefined).length;
  }

  it('a limit of requests at the same time is that of all instances together', async () => {
    const [first, second] = instances(2, 10) as [ConcurrencyLimiter, ConcurrencyLimiter];
    const granted = await Promise.all([beginAll(first, 20), beginAll(second, 20)]);
    expect(granted[0] + granted[1]).toBe(10);
    expect(await begin(first)).toBeUndefined();
    expect(await begin(second, 'bob')).toBeDefined();
  });

  it('a limit of requests at the same time is never exceeded, and all of it can be used at any instance', async () => {
    const all = instances(3, 4);
    let [now, most, refused] = [0, 0, 0];
    const client = async (requests: number, maxMs: number): Promise<void> => {
      for (let count = 0; count < requests; count++) {
        const end = await begin(all[Math.floor(Math.random() * 3)] as ConcurrencyLimiter);
        if (end === undefined) {
          refused++;
          continue;
        }
        most = Math.max(most, ++now);
        await delay(Math.random() * maxMs);
        now--;
        end();
      }
    };
    await Promise.all(Array.from({ length: 4 }, () => client(200, 2)));
    expect([most, refused]).toEqual([4, 0]);
    await Promise.all(Array.from({ length: 12 }, () => client(10, 200)));
    expect(most).toBe(4);
    expect(refused).toBeGreaterThan(0);
  });

  it('a limit of requests at the same time holds for requests that take longer than a reservation lasts', async () => {
    const longMs = EXPIRED_MS + 1000;
    const granted = await inTime(longMs + RESERVED_MS - RENEW_MS, async (caller) => {
      const [first, second] = instances(2, 3) as [ConcurrencyLimiter, ConcurrencyLimiter];
      expect(await beginAll(first, 3, caller)).toBe(3);
      await delay(longMs);
      return beginAll(second, 3, caller);
    });
    expect(granted).toBe(0);
  });

  it('the requests of an instance that has died no longer count after three seconds', async () => {
    const { beginOthers, granted } = await inTime(RESERVED_MS, async (caller) => {
      const [first, second] = instances(2, 3) as [ConcurrencyLimiter, ConcurrencyLimiter];
      expect(await beginAll(first, 2, caller)).toBe(2);
      first.close();
      await delay(EXPIRED_MS / 2);
      const beginOthers = (): Promise<number> => beginAll(second, 3, caller);
      return { beginOthers, granted: await beginOthers() };
    });
    expect(granted).toBe(1);
    await delay(EXPIRED_MS / 2);
    expect(await beginOthers()).toBe(2);
  });

  it('a caller far from its limit needs few replies of Redis, and one beyond it not many', async () => {
    const evaluate = jest.spyOn(redis.connection, 'eval');
    const far = instance(10);
    for (let count = 0; count < 200; count++) (await begin(far))?.();
    expect(evaluate.mock.calls.length).toBeLessThan(5);
    const full = instance(1);
    await begin(full, 'bob');
    evaluate.mockClear();
    expect(await beginAll(full, 500, 'bob')).toBe(0);
    expect(evaluate.mock.calls.length).toBeLessThan(20);
  });

  it('free slots are returned soon, and their key disappears', async () => {
    // Otherwise, they would be returned at the latest when the reservation is renewed.
    stopClock();
    const [first, second] = instances(2, 10) as [ConcurrencyLimiter, ConcurrencyLimiter];
    const ends = await Promise.all(Array.from({ length: 5 }, () => begin(first)));
    for (const end of ends) end?.();
    expect(await beginAll(second, 10)).toBe(10);
    endAll();
    await untilReturned();
  });

  it('slots that become free while others are being returned are returned too', async () => {
    const [first, second] = instances(2, 4) as [ConcurrencyLimiter, ConcurrencyLimiter];
    const [end, endLast] = await Promise.all([begin(first), begin(first)]);
    await redis.connection.client('PAUSE', PAUSED_MS);
    end?.();
    await delay(NOTICED_MS);
    endLast?.();
    await delay(PAUSED_MS);
    expect(await beginAll(second, 4)).toBe(4);
  });

  it('a request that begins while the slots of its caller are being returned counts', async () => {
    const [first, second] = instances(2, 4) as [ConcurrencyLimiter, ConcurrencyLimiter];
    const ends = await Promise.all(Array.from({ length: 4 }, () => begin(first)));
    await redis.connection.client('PAUSE', PAUSED_MS);
    for (const end of ends) end?.();
    await delay(NOTICED_MS);
    expect(await begin(first)).toBeDefined();
    await delay(PAUSED_MS);
    expect(await beginAll(second, 4)).toBe(3);
  });

  it('a request is not refused because the process was too busy to try again', async () => {
    const [first, second] = instances(2, 1) as [ConcurrencyLimiter, ConcurrencyLimiter];
    const end = await begin(first);
    const waiting = begin(second);
    const busyUntil = performance.now() + PAUSED_MS;
    while (performance.now() < busyUntil);
    end?.();
    expect(await waiting).toBeDefined();
  });

  it('a request beyond the limit is refused within two seconds while Redis is slow', async () => {
    const limiter = instance(2);
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    jest.spyOn(redis.connection, 'eval').mockImplementation(() => {
      now += 400;
      return Promise.resolve([0, 2]);
    });
    expect(await begin(limiter)).toBeUndefined();
    expect(now).toBeLessThan(2000);
  });

  it('long requests cause no work while Redis is unavailable', async () => {
    // Redis counts as unavailable for a second after each failure.
    stopClock();
    const unavailable = new LimitsRedis(url, report);
    unavailable.disconnect();
    const limiter = new ConcurrencyLimiter(2, unavailable, prefix);
    limiters.push(limiter);
    const send = jest.spyOn(unavailable, 'send');
    await expect(begin(limiter)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await delay(NOTHING_DONE_MS);
    expect(send).toHaveBeenCalledTimes(1);
  });

  it('callers beyond those that may have a key are limited by each instance', async () => {
    // Redis itself would take long.
    const evaluate = jest.spyOn(redis.connection, 'eval').mockImplementation((...args: unknown[]) => {
      const [kept, waiting] = args.slice(4, 6).map(Number) as [number, number];
      return Promise.resolve([kept + waiting, 0]);
    });
    const limiter = instance(2);
    for (let caller = 0; caller < MAX_CALLERS; caller++) await begin(limiter, String(caller));
    const keyed = (): number => new Set(evaluate.mock.calls.map(([, , key]) => key)).size;
    expect(keyed()).toBe(MAX_CALLERS);
    expect(await beginAll(limiter, 5)).toBe(2);
    expect(keyed()).toBe(MAX_CALLERS);
  });

  it('what another program has stored for a caller does not exclude it', async () => {
    const limiter = instance(2);
    (await begin(limiter))?.();
    const [key = ''] = await keys();
    await redis.connection.hset(key, 'another program', 'anything', 'without end', '2 9999999999999');
    expect(await beginAll(limiter, 3)).toBe(2);
    expect(Object.keys(await redis.connection.hgetall(key))).toHaveLength(1);
    endAll();
    await untilReturned();
    await redis.connection.set(key, 'not a hash');
    expect(await begin(limiter)).toBeDefined();
    expect(report).toHaveBeenCalledWith(expect.stringMatching(/^Redis refuses a command: WRONGTYPE /));
  });
});
