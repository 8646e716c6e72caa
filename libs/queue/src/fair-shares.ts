import type { BacklogLimits } from './backlog.js';
import { callerDigest } from './caller-digest.js';
import { reportRefusal, type RedisConnection, type Report } from './redis.js';

/** The place of a new job in the queue. */
export interface Place {
  /** The priority of the job: 1 is the first. */
  priority: number;
  /** About how many jobs are before it. */
  ahead: number;
}

/** A job to be placed. */
interface Request {
  seller: string;
  /** Its part of the seller's limits, at least one job. */
  cost: number;
  resolve: (place: Place | undefined) => void;
  reject: (error: unknown) => void;
}

/** The lowest priority that BullMQ accepts (https://docs.bullmq.io/guide/jobs/prioritized). */
const LOWEST_PRIORITY = 2_097_151;
/** How many jobs of a seller share a priority, so that the priorities last for a long backlog. */
const JOBS_PER_PRIORITY = 4;

/**
 * Gives sellers equal shares of the queue, however many jobs each of them adds: start-time fair queueing
 * (https://doi.org/10.1109/90.649569). Each job of a seller starts, in virtual time, where the seller's previous job
 * ends, or now if that is over. Its start is its priority. Virtual time is the start of the job that is next.
 *
 * The jobs of a seller that wait are those between now and the end of its last job, so Redis holds one number for each
 * seller who has jobs waiting.
 */
export class FairShares {
  private requests: Request[] = [];
  private readonly jobs: { seller: number; total: number };
  /** The limit on the bytes of a seller. */
  private readonly bytes: number;

  constructor(
    private readonly redis: RedisConnection,
    private readonly toKey: (name: string) => string,
    limits: { seller: BacklogLimits; total: BacklogLimits },
    private readonly report: Report,
  ) {
    const { seller, total } = limits;
    this.jobs = { seller: Math.min(seller.jobs, total.jobs), total: total.jobs };
    this.bytes = Math.min(seller.bytes, total.bytes);
  }

  /**
   * Returns the place of a new job of this many bytes, or undefined if too many jobs of its seller wait: more than the
   * seller's limits, or more than there is room for others. So one seller can fill half of the queue, and two a third each.
   * Concurrent calls share a command.
   *
   * @throws if Redis does not reply
   */
  place(sellerId: string, bytes: number): Promise<Place | undefined> {
    return new Promise((resolve, reject) => {
      this.requests.push({ seller: callerDigest(sellerId), cost: this.costOf(bytes), resolve, reject });
      if (this.requests.length === 1) setImmediate(() => void this.placeAll());
    });
  }

  /** Releases the place of a job that was not added. Without a reply from Redis, virtual time skips it. */
  async release(sellerId: string, bytes: number): Promise<void> {
    const change = -this.costOf(bytes);
    await this.redis.zadd(this.toKey('sellers'), 'XX', 'INCR', change, callerDigest(sellerId)).catch(() => undefined);
  }

  /** A job that is larger than the limit of a seller takes all of it, so that a seller with no other may add it. */
  private costOf(bytes: number): number {
    return Math.min(Math.max(1, (bytes * this.jobs.seller) / this.bytes), this.jobs.seller);
  }

  private async placeAll(): Promise<void> {
    const requests = this.requests;
    this.requests = [];
    const keys = ['prioritized', 'sellers'].map((name) => this.toKey(name));
    const limits = [this.toKey(''), LOWEST_PRIORITY, JOBS_PER_PRIORITY, this.jobs.seller, this.jobs.total];
    const jobs = requests.flatMap((request) => [request.seller, request.cost]);
    try {
      const placing = this.redis.eval(PLACE_JOBS, keys.length, ...keys, ...limits, ...jobs);
      const places = (await reportRefusal(placing, this.report)) as number[][];
      for (const [index, { resolve }] of requests.entries()) {
        const [priority, ahead = 0] = places[index] ?? [];
        resolve(priority === undefined ? undefined : { priority, ahead });
      }
    } catch (error) {
      for (const { reject } of requests) reject(error);
    }
  }
}

/**
 * `sellers` holds the end of the last job of each seller, in jobs, and under an empty name the latest virtual time: a
 * job that returns to the queue with an earlier start does not move it backwards. If the lowest priority is reached,
 * because the queue has not been empty for millions of jobs, later jobs share it, first in, first out. Virtual time
 * then stops advancing, so that sellers soon reach their limits and the queue becomes empty. Then it restarts at zero.
 */
const PLACE_JOBS = `
local prioritized, sellers = KEYS[1], KEYS[2]
local prefix, lowest, step = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local waiting = redis.call('ZCARD', prioritized)
local limit = math.min(tonumber(ARGV[4]), tonumber(ARGV[5]) - waiting)

local next = redis.call('ZRANGE', prioritized, 0, 0)[1]
-- Another program may have listed a key of another type than a job.
local value = next and redis.pcall('HGET', prefix .. next, 'priority')
local priority = type(value) == 'string' and tonumber(value)
local now = 0
if priority then
  now = math.max((priority - 1) * step, tonumber(redis.call('ZSCORE', sellers, '') or 0))
  redis.call('ZREMRANGEBYSCORE', sellers, '-inf', now)
else redis.call('DEL', sellers) end
redis.call('ZADD', sellers, now, '')

local places = {}
for i = 6, #ARGV, 2 do
  local start = tonumber(redis.call('ZSCORE', sellers, ARGV[i]) or now)
  local own, cost = start - now, tonumber(ARGV[i + 1])
  if own + cost > limit then places[#places + 1] = {}
  else
    redis.call('ZADD', sellers, start + cost, ARGV[i])
    local ahead = math.min(waiting, (own + step) * (redis.call('ZCARD', sellers) - 1))
    places[#places + 1] = { math.min(1 + math.floor(start / step), lowest), ahead }
  end
end
return places
`;
