import { DrainRate } from './drain-rate.js';
import type { RedisConnection } from './redis.js';

export interface BacklogLimits {
  /** Jobs that wait for a worker or for their next try. */
  jobs: number;
  /** Bytes of their data. */
  bytes: number;
}

/** What the queue holds, as Redis has counted it. */
interface Sample {
  /** In ms of `performance.now()`. */
  at: number;
  /** Jobs that can be taken at once. */
  waiting: number;
  /** Those, and the ones that wait for their next try. */
  jobs: number;
  /** Estimate, from the jobs at both ends. */
  bytes: number;
  /** Jobs that have failed for good and are kept. */
  failed: number;
  /** Share of `maxmemory` in use; 0 where none is set. */
  memory: number;
}

/** What an operator should know of the queue. */
export type BacklogState = Pick<Sample, 'memory' | 'failed'> & { refuses?: 'memory' | 'jobs' | 'bytes' | undefined };

const FRESH_MS = 250;
/** A look at both ends of the queue tells the size of its jobs well enough. */
const SAMPLED_JOBS = 50;
/** Above it workers may soon not even be able to take jobs. */
const MEMORY_LIMIT = 0.7;
/** Jobs may wait for so long before anybody calls it a stall. */
const STALLED_AFTER_MS = 1000;
const MAX_RETRY_AFTER_S = 30;
/** When workers come back is not known. */
const RETRY_AFTER_STALLED_S = 10;

/** Tells how much work waits in the queue, from a sample at most 250 ms old and what this process has added since. */
export class Backlog {
  private sample: Sample | undefined;
  private sampling: Promise<Sample> | undefined;
  private added = { jobs: 0, bytes: 0 };
  private readonly rate = new DrainRate();

  constructor(
    private readonly redis: RedisConnection,
    private readonly toKey: (name: string) => string,
    private readonly limits: BacklogLimits,
  ) {}

  /**
   * Counts a create of this many bytes as queued, or returns after how many seconds it is worth trying again. A client
   * that waits (`waitMs`) is also refused once its wait cannot be met.
   *
   * @throws when Redis does not answer
   */
  async admit(bytes: number, waitMs: number | undefined): Promise<number | undefined> {
    const sample = await this.current();
    const waiting = sample.waiting + this.added.jobs;
    const drainMs = this.rate.drainMs(waiting);
    const isStalled = waitMs !== undefined && waiting > 0 && this.rate.stalledMs > Math.max(waitMs, STALLED_AFTER_MS);
    if (isStalled) return Math.min(RETRY_AFTER_STALLED_S, toSeconds(drainMs) ?? RETRY_AFTER_STALLED_S);
    const isTooSlow = waitMs !== undefined && drainMs !== undefined && drainMs > waitMs;
    if (isTooSlow || this.reasonIn(sample) !== undefined) return toSeconds(drainMs) ?? 1;
    this.added.jobs += 1;
    this.added.bytes += bytes;
    return undefined;
  }

  /** Looks at the queue, which also keeps its drain rate known. @throws when Redis does not answer */
  async state(): Promise<BacklogState> {
    const sample = await this.look();
    return { ...sample, refuses: this.reasonIn(sample) };
  }

  private reasonIn({ jobs, bytes, memory }: Sample): BacklogState['refuses'] {
    if (memory > MEMORY_LIMIT) return 'memory';
    if (jobs + this.added.jobs >= this.limits.jobs) return 'jobs';
    return bytes + this.added.bytes >= this.limits.bytes ? 'bytes' : undefined;
  }

  private async current(): Promise<Sample> {
    if (this.sample !== undefined && performance.now() - this.sample.at <= FRESH_MS) return this.sample;
    this.sampling ??= this.sampleAnew().finally(() => {
      this.sampling = undefined;
    });
    return this.sampling;
  }

  private async sampleAnew(): Promise<Sample> {
    const { jobs, bytes } = this.added;
    this.sample = await this.look();
    // What was added meanwhile may not be in the sample.
    this.added = { jobs: this.added.jobs - jobs, bytes: this.added.bytes - bytes };
    return this.sample;
  }

  private async look(): Promise<Sample> {
    const at = performance.now();
    const names = ['wait', 'prioritized', 'delayed', 'failed', 'metrics:completed', 'metrics:failed'];
    const keys = names.map((name) => this.toKey(name));
    const reply = await this.redis.eval(LOOK, keys.length, ...keys, this.toKey(''), SAMPLED_JOBS);
    const [counts, info] = reply as [number[], string];
    const [waits = 0, prioritized = 0, delayed = 0, failed = 0, finished = 0, bytes = 0] = counts;
    const waiting = waits + prioritized;
    this.rate.observe({ at, waiting, finished });
    return { at, waiting, jobs: waiting + delayed, bytes, failed, memory: memoryShare(info) };
  }
}

/**
 * Counts the jobs of each state and estimates the bytes of those that wait, in one step. A script also makes a Redis
 * Cluster ask the node that holds the queue about its memory.
 */
const LOOK = `
local wait, prioritized, delayed, failed = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local prefix, sampled = ARGV[1], tonumber(ARGV[2])

local function bytesOf(count, ids)
  local sum = 0
  for _, id in ipairs(ids) do sum = sum + redis.call('HSTRLEN', prefix .. id, 'data') end
  return #ids == 0 and 0 or sum / #ids * count
end

local function endsOf(key)
  local ids = redis.call('LRANGE', key, 0, sampled / 2 - 1)
  for _, id in ipairs(redis.call('LRANGE', key, -sampled / 2, -1)) do ids[#ids + 1] = id end
  return ids
end

local waiting = redis.call('LLEN', wait)
local bytes = bytesOf(waiting, endsOf(wait))
local counts = {}
for _, key in ipairs({ prioritized, delayed }) do
  counts[key] = redis.call('ZCARD', key)
  bytes = bytes + bytesOf(counts[key], redis.call('ZRANGE', key, 0, sampled - 1))
end
local completed = tonumber(redis.call('HGET', KEYS[5], 'count') or 0)
local rejected = tonumber(redis.call('HGET', KEYS[6], 'count') or 0)
return {
  { waiting, counts[prioritized], counts[delayed], redis.call('ZCARD', failed), completed + rejected, bytes },
  redis.call('INFO', 'memory'),
}
`;

function toSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.min(MAX_RETRY_AFTER_S, Math.max(1, Math.ceil(ms / 1000)));
}

function memoryShare(info: string): number {
  const value = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  const max = value('maxmemory');
  return max === 0 ? 0 : value('used_memory') / max;
}
