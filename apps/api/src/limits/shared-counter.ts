import type { RateLimiterRedis } from 'rate-limiter-flexible';
import { callerDigest, reportRefusal, type RedisConnection, type Report } from '@app/queue';
import type { Quota } from '@app/runtime';

/** What a caller has taken in the current window. */
export interface Count {
  /** Units of all instances, including those just added. */
  total: number;
  /** When the window ends, in ms of `performance.now()`. */
  until: number;
}

/** Counts the units of each caller in windows that begin with the first unit. */
export interface Counter {
  /** Whether the count has been unavailable just now. */
  readonly isUnavailable: boolean;
  /** Adds units, and returns the count. Returns undefined if it is unavailable. */
  add(caller: string, units: number): Promise<Count | undefined>;
}

export interface SharedCounterOptions {
  /** The beginning of all keys. */
  prefix: string;
  quota: Quota;
  report: Report;
}

/** After a failure, Redis is left alone for this time, so that a Redis that does not reply delays few requests. */
const UNAVAILABLE_MS = 1000;

/** Counts in Redis, for all instances. A caller has one key, which expires with its window. */
export class SharedCounter implements Counter {
  private unavailableUntil = 0;

  private constructor(
    private readonly limiter: RateLimiterRedis,
    private readonly report: Report,
  ) {}

  /** Loads the library only now, because an API without limits does not need it. */
  static async create(redis: RedisConnection, { prefix, quota, report }: SharedCounterOptions): Promise<SharedCounter> {
    const { RateLimiterRedis } = await import('rate-limiter-flexible');
    const { count: points, seconds: duration } = quota;
    const options = { storeClient: redis, keyPrefix: prefix, points, duration, rejectIfRedisNotReady: true };
    return new SharedCounter(new RateLimiterRedis(options), report);
  }

  get isUnavailable(): boolean {
    return performance.now() < this.unavailableUntil;
  }

  async add(caller: string, units: number): Promise<Count | undefined> {
    if (this.isUnavailable) return undefined;
    // Taken before Redis replies, so that a window never ends later here than in Redis.
    const askedAt = performance.now();
    try {
      // Unlike `consume`, it also returns a count above the limit.
      const { consumedPoints, msBeforeNext } = await reportRefusal(
        this.limiter.penalty(callerDigest(caller), units),
        this.report,
      );
      return { total: consumedPoints, until: askedAt + msBeforeNext };
    } catch {
      this.unavailableUntil = performance.now() + UNAVAILABLE_MS;
      return undefined;
    }
  }
}
