import type { RateLimiterRedis } from 'rate-limiter-flexible';
import { callerDigest } from '@app/queue';
import type { Quota } from '@app/runtime';
import type { LimitsRedis } from './limits-redis.js';

/** What a caller has taken in the current window. */
export interface Count {
  /** Units of all instances, including those just added. */
  total: number;
  /** When the window ends, in ms of `performance.now()`. */
  until: number;
}

/** Counts the units of each caller in windows that begin with the first unit. */
export interface Counter {
  /** Whether the count was unavailable just now. */
  readonly isUnavailable: boolean;
  /** Adds units, and returns the count. Returns undefined if it is unavailable. */
  add(caller: string, units: number): Promise<Count | undefined>;
}

/** Counts in Redis, for all instances. A caller has one key, which expires with its window. */
export class SharedCounter implements Counter {
  private constructor(
    private readonly redis: LimitsRedis,
    private readonly limiter: RateLimiterRedis,
  ) {}

  /**
   * Loads the library only now, because an API without limits does not need it.
   *
   * @param keyPrefix the beginning of all keys
   */
  static async create(redis: LimitsRedis, keyPrefix: string, quota: Quota): Promise<SharedCounter> {
    const { RateLimiterRedis } = await import('rate-limiter-flexible');
    const { count: points, seconds: duration } = quota;
    const options = { storeClient: redis.connection, keyPrefix, points, duration, rejectIfRedisNotReady: true };
    return new SharedCounter(redis, new RateLimiterRedis(options));
  }

  get isUnavailable(): boolean {
    return this.redis.isUnavailable;
  }

  async add(caller: string, units: number): Promise<Count | undefined> {
    // Taken before Redis replies, so that a window never ends later here than in Redis.
    const askedAt = performance.now();
    // Unlike `consume`, it also returns a count above the limit.
    const name = callerDigest(caller);
    const counted = await this.redis.send(this.limiter.getKey(name), () => this.limiter.penalty(name, units));
    return counted && { total: counted.consumedPoints, until: askedAt + counted.msBeforeNext };
  }
}
