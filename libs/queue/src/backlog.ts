import type { ChainableCommander } from 'ioredis';
import type { RedisConnection } from './redis.js';

export interface BacklogLimits {
  /** Waiting jobs, failed ones included. */
  jobs: number;
  /** Bytes of their data. */
  bytes: number;
}

interface Sample {
  at: number;
  /** Jobs that could be taken at once. */
  waiting: number;
  /** Those, and the ones that wait for another try or for an operator. */
  jobs: number;
  bytes: number;
  /** Share of `maxmemory` in use; 0 where none is set. */
  memory: number;
  /** Jobs completed since the queue exists. */
  completed: number;
}

/** The jobs of one state: how many, and some of them. */
interface Part {
  count: number;
  ids: string[];
}

const NO_JOBS: Part = { count: 0, ids: [] };

const FRESH_MS = 250;
/** Beside `wait`, where jobs stay: those that could be taken at once come first. */
const OTHER_STATES = ['prioritized', 'delayed', 'failed'] as const;
/** A look at both ends of the queue tells the size of its jobs well enough. */
const SAMPLED_JOBS = 50;
/** Above it workers may soon not even be able to take jobs. */
const MEMORY_LIMIT = 0.7;
/** How far back the drain rate looks, and how long jobs must have waited for it to say anything. */
const RATE_WINDOW_MS = 10_000;
const RATE_AFTER_MS = 1000;
const MAX_RETRY_AFTER_S = 30;

/** How much work waits in the queue, known to at most 250 ms ago plus what this process has added since. */
export class Backlog {
  private sample: Sample | undefined;
  private sampling: Promise<Sample> | undefined;
  private added = 0;
  /** Samples since jobs have begun to wait, oldest first: throughput says nothing while none do. */
  private busy: Sample[] = [];

  constructor(
    private readonly redis: RedisConnection,
    private readonly toKey: (name: string) => string,
    private readonly limits: BacklogLimits,
  ) {}

  /**
   * In how many seconds it is worth trying again, where a create must be refused now. One that is admitted (undefined)
   * counts at once, not only from the next look on. `waitMs` is how long its client waits for the item; one that does
   * not wait is not refused for a queue that is slow.
   *
   * @throws when Redis does not answer
   */
  async admit(waitMs: number | undefined): Promise<number | undefined> {
    const { waiting, jobs, bytes, memory } = await this.current();
    const drainMs = this.drainMs(waiting + this.added);
    const isFull = jobs + this.added >= this.limits.jobs || bytes >= this.limits.bytes || memory > MEMORY_LIMIT;
    const isTooSlow = waitMs !== undefined && drainMs !== undefined && drainMs > waitMs;
    if (isFull || isTooSlow) return Math.min(MAX_RETRY_AFTER_S, Math.max(1, Math.ceil((drainMs ?? 1000) / 1000)));
    this.added += 1;
    return undefined;
  }

  /** Keeps the drain rate known while clients wait, however seldom a new one comes. */
  async watch(): Promise<void> {
    await this.current().catch(() => undefined);
  }

  private async current(): Promise<Sample> {
    if (this.sample !== undefined && Date.now() - this.sample.at <= FRESH_MS) return this.sample;
    this.sampling ??= this.look().finally(() => {
      this.sampling = undefined;
    });
    return this.sampling;
  }

  private async look(): Promise<Sample> {
    const at = Date.now();
    const added = this.added;
    this.added = 0;
    try {
      const { completed, wait, others } = await this.count();
      const [bytes, info] = await Promise.all([this.bytesOf([wait, ...others]), this.redis.info('memory')]);
      const [prioritized = NO_JOBS] = others;
      const jobs = others.reduce((sum, { count }) => sum + count, wait.count);
      const waiting = wait.count + prioritized.count;
      this.sample = { at, waiting, jobs, bytes, completed, memory: memoryShare(info) };
    } catch (error) {
      this.added += added;
      throw error;
    }
    this.remember(this.sample);
    return this.sample;
  }

  private async count(): Promise<{ completed: number; wait: Part; others: Part[] }> {
    const key = this.toKey;
    const pipeline = this.redis.pipeline();
    pipeline.hget(key('metrics:completed'), 'count').llen(key('wait'));
    pipeline.lrange(key('wait'), 0, SAMPLED_JOBS / 2 - 1).lrange(key('wait'), -SAMPLED_JOBS / 2, -1);
    for (const state of OTHER_STATES) pipeline.zcard(key(state)).zrange(key(state), 0, SAMPLED_JOBS - 1);
    const [completed, wait, newest, oldest, ...others] = await valuesOf(pipeline);
    return {
      completed: Number(completed ?? 0),
      wait: toPart(wait, newest, oldest),
      others: OTHER_STATES.map((_, index) => toPart(others[2 * index], others[2 * index + 1])),
    };
  }

  private async bytesOf(parts: Part[]): Promise<number> {
    const ids = parts.flatMap((part) => part.ids);
    if (ids.length === 0) return 0;
    const pipeline = this.redis.pipeline();
    for (const id of ids) pipeline.hstrlen(this.toKey(id), 'data');
    const sizes = (await valuesOf(pipeline)).map(Number);
    return parts.reduce((bytes, { count, ids: { length } }) => {
      const sampled = sizes.splice(0, length).reduce((sum, size) => sum + size, 0);
      return bytes + (length === 0 ? 0 : (sampled / length) * count);
    }, 0);
  }

  private remember(sample: Sample): void {
    const last = this.busy.at(-1);
    const isContinuous = last !== undefined && sample.at - last.at < RATE_AFTER_MS;
    if (sample.waiting === 0) this.busy = [];
    else this.busy = [...(isContinuous ? this.busy : []), sample].filter(({ at }) => sample.at - at <= RATE_WINDOW_MS);
  }

  /** How long the jobs that wait will take at the rate of the last seconds; undefined when that is not known. */
  private drainMs(waiting: number): number | undefined {
    const [first, last] = [this.busy[0], this.busy.at(-1)];
    if (first === undefined || last === undefined || last.at - first.at < RATE_AFTER_MS) return undefined;
    const perMs = (last.completed - first.completed) / (last.at - first.at);
    return perMs > 0 ? waiting / perMs : Infinity;
  }
}

async function valuesOf(pipeline: ChainableCommander): Promise<unknown[]> {
  return ((await pipeline.exec()) ?? []).map(([error, value]) => {
    if (error !== null) throw error;
    return value;
  });
}

function toPart(count: unknown, ...ids: unknown[]): Part {
  return { count: Number(count), ids: [...new Set((ids as string[][]).flat())] };
}

function memoryShare(info: string): number {
  const value = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  const max = value('maxmemory');
  return max === 0 ? 0 : value('used_memory') / max;
}
