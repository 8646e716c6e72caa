import { DrainRate } from './drain-rate.js';
import { reportRefusal, type RedisConnection, type Report } from './redis.js';

export interface BacklogLimits {
  /** Jobs that wait for a worker or for their next attempt. */
  jobs: number;
  /** Total bytes of their data. */
  bytes: number;
}

/** The contents of the queue, as counted by Redis. */
interface Sample {
  /** In ms of `performance.now()`. */
  at: number;
  /** Jobs that a worker can take immediately. */
  waiting: number;
  /** Jobs that a worker has taken. */
  active: number;
  /** Jobs that wait for their next attempt. */
  delayed: number;
  /** Age of the job that waits the longest, in seconds by the clocks of its producer and this process; 0 if none waits. */
  oldestWaitingS: number;
  /** `waiting`, plus the jobs that wait for their next attempt. */
  jobs: number;
  /** Bytes of their data, estimated from the jobs at both ends of the queue. */
  bytes: number;
  /** Permanently failed jobs that are kept. */
  failed: number;
  /** The fraction of `maxmemory` in use, or 0 if none is set. */
  memory: number;
}

/** The state of the queue, for operators. `refuses` is the limit that currently makes it refuse creates. */
export type BacklogState = Omit<Sample, 'at'> & { refuses?: FullReason | undefined };

/** A limit that the queue has reached. */
type FullReason = 'memory' | 'jobs' | 'bytes';

/**
 * Why a create is not queued: a limit of the queue or of its seller, or no job has finished for a while, or the jobs
 * before it would take too long.
 */
export interface Refusal {
  reason: FullReason | 'seller' | 'stalled' | 'slow';
  retryAfterS: number;
}

const FRESH_MS = 250;
/** Enough jobs from both ends of the queue to estimate the size of all its jobs. */
const SAMPLED_JOBS = 50;
/** Above this fraction of `maxmemory`, workers may soon be unable to take jobs. */
const MEMORY_LIMIT = 0.7;
/** The queue is not stalled until jobs have waited this long without one of them finishing. */
const STALLED_AFTER_MS = 1000;
const MAX_RETRY_AFTER_S = 30;
/** Used during a stall, because it is unknown when the workers will be back. */
const RETRY_AFTER_STALLED_S = 10;

/** Tracks the work that waits in the queue: a sample at most 250 ms old, plus what this process has added since. */
export class Backlog {
  private sample: Sample | undefined;
  private sampling: Promise<Sample> | undefined;
  private added = { jobs: 0, bytes: 0 };
  private readonly rate = new DrainRate();

  constructor(
    private readonly redis: RedisConnection,
    private readonly toKey: (name: string) => string,
    private readonly limits: BacklogLimits,
    private readonly report: Report,
  ) {}

  /**
   * Counts a create of this many bytes as queued, or returns why not and when to retry. The create of a client that waits
   * (`waitMs`) is also refused while no job finishes.
   *
   * @throws if Redis does not reply
   */
  async admit(bytes: number, waitMs: number | undefined): Promise<Refusal | undefined> {
    const sample = await this.current();
    const { waiting } = this;
    const drainMs = this.rate.drainMs(waiting);
    const isStalled = waitMs !== undefined && waiting > 0 && this.rate.stalledMs > Math.max(waitMs, STALLED_AFTER_MS);
    if (isStalled) {
      const retryAfterS = Math.min(RETRY_AFTER_STALLED_S, toSeconds(drainMs) ?? RETRY_AFTER_STALLED_S);
      return { reason: 'stalled', retryAfterS };
    }
    const reason = this.reasonIn(sample, this.added);
    if (reason !== undefined) return { reason, retryAfterS: toSeconds(drainMs) ?? 1 };
    this.added.jobs += 1;
    this.added.bytes += bytes;
    return undefined;
  }

  /** Takes back a create that was admitted and is not queued after all. */
  release(bytes: number): void {
    this.added.jobs -= 1;
    this.added.bytes -= bytes;
  }

  /** Returns a refusal if the jobs before a create would take longer than its client waits. */
  refuseWait(waitMs: number | undefined, ahead = this.waiting): Refusal | undefined {
    const drainMs = this.rate.drainMs(ahead);
    const isTooSlow = waitMs !== undefined && drainMs !== undefined && drainMs > waitMs;
    return isTooSlow ? { reason: 'slow', retryAfterS: toSeconds(drainMs) ?? 1 } : undefined;
  }

  /** Returns when to try again if too many jobs of one seller wait. */
  refuseSeller(): Refusal {
    return { reason: 'seller', retryAfterS: toSeconds(this.rate.drainMs(this.waiting)) ?? 1 };
  }

  /** Samples the queue, which also updates the drain rate. @throws if Redis does not reply */
  async state(): Promise<BacklogState> {
    const sample = await this.takeSample();
    return { ...sample, refuses: this.reasonIn(sample, { jobs: 0, bytes: 0 }) };
  }

  private get waiting(): number {
    return (this.sample?.waiting ?? 0) + this.added.jobs;
  }

  private reasonIn({ jobs, bytes, memory }: Sample, added: BacklogLimits): FullReason | undefined {
    if (memory > MEMORY_LIMIT) return 'memory';
    if (jobs + added.jobs >= this.limits.jobs) return 'jobs';
    return bytes + added.bytes >= this.limits.bytes ? 'bytes' : undefined;
  }

  private async current(): Promise<Sample> {
    if (this.sample !== undefined && performance.now() - this.sample.at <= FRESH_MS) return this.sample;
    this.sampling ??= this.refresh().finally(() => (this.sampling = undefined));
    return this.sampling;
  }

  private async refresh(): Promise<Sample> {
    const { jobs, bytes } = this.added;
    this.sample = await this.takeSample();
    // The sample may not include jobs that were added while it was taken.
    this.added = { jobs: this.added.jobs - jobs, bytes: this.added.bytes - bytes };
    return this.sample;
  }

  private async takeSample(): Promise<Sample> {
    const at = performance.now();
    const names = ['wait', 'prioritized', 'delayed', 'failed', 'metrics:completed', 'metrics:failed', 'active'];
    const keys = names.map((name) => this.toKey(name));
    const sampling = this.redis.eval(SAMPLE_SCRIPT, keys.length, ...keys, this.toKey(''), SAMPLED_JOBS);
    const reply = await reportRefusal(sampling, this.report);
    const [counts, info] = reply as [number[], string];
    const [waits = 0, prioritized = 0, delayed = 0, failed = 0, finished = 0, bytes = 0, active = 0, since = 0] =
      counts;
    const waiting = waits + prioritized;
    this.rate.observe({ at, waiting, finished });
    const oldestWaitingS = since === 0 ? 0 : Math.max(0, Date.now() - since) / 1000;
    const jobs = waiting + delayed;
    return { at, waiting, active, delayed, jobs, oldestWaitingS, bytes, failed, memory: memoryShare(info) };
  }
}

/**
 * Counts the jobs in each state and estimates the bytes of the waiting ones, atomically. Because this is a script,
 * `INFO` runs on the node of a Redis Cluster that holds the queue.
 */
const SAMPLE_SCRIPT = `
local wait, prioritized, delayed, failed = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local prefix, sampled = ARGV[1], tonumber(ARGV[2])

-- A key of another type than a job, which another program has listed, must not make the whole script fail.
local function valueOf(command, id, field)
  local value = redis.pcall(command, prefix .. id, field)
  return type(value) ~= 'table' and tonumber(value) or 0
end

local function bytesOf(count, ids)
  local sum = 0
  for _, id in ipairs(ids) do sum = sum + valueOf('HSTRLEN', id, 'data') end
  return #ids == 0 and 0 or sum / #ids * count
end

local function endsOf(range, key)
  local ids = redis.call(range, key, 0, sampled / 2 - 1)
  for _, id in ipairs(redis.call(range, key, -sampled / 2, -1)) do ids[#ids + 1] = id end
  return ids
end

local waiting = redis.call('LLEN', wait)
local bytes = bytesOf(waiting, endsOf('LRANGE', wait))
local counts, ends = {}, {}
for _, key in ipairs({ prioritized, delayed }) do
  counts[key], ends[key] = redis.call('ZCARD', key), endsOf('ZRANGE', key)
  bytes = bytes + bytesOf(counts[key], ends[key])
end
-- Workers take jobs from the end of the list, and then by priority, which is not quite the order of age.
local since = 0
local candidates = ends[prioritized]
candidates[#candidates + 1] = redis.call('LINDEX', wait, -1) or nil
for _, id in ipairs(candidates) do
  local timestamp = valueOf('HGET', id, 'timestamp')
  if timestamp > 0 and (since == 0 or timestamp < since) then since = timestamp end
end
local completed = tonumber(redis.call('HGET', KEYS[5], 'count') or 0)
local rejected = tonumber(redis.call('HGET', KEYS[6], 'count') or 0)
return {
  { waiting, counts[prioritized], counts[delayed], redis.call('ZCARD', failed), completed + rejected, bytes,
    redis.call('LLEN', KEYS[7]), since },
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
