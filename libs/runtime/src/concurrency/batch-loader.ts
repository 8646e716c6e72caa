import { context, ROOT_CONTEXT, type Context } from '@opentelemetry/api';
import { TimeoutError, withDeadline } from './deadline.js';
import { Limiter } from './limiter.js';

/** A key to read. */
interface Entry<T> {
  /** The latest deadline of its callers. */
  deadline: number;
  /** OpenTelemetry's context of its first caller. The query is part of its trace. */
  context: Context;
  found: Promise<T | undefined>;
  resolve: (value: T | undefined) => void;
  reject: (error: unknown) => void;
}

type Batch<T> = [key: string, Entry<T>][];

/** The values that exist under some keys: of all of them, or only the first ones. */
export interface FoundValues<T> {
  values: Map<string, T>;
  areAll: boolean;
}

/** Batches that are read at the same time. Meanwhile, the next one is collected. */
const BATCHES_AT_ONCE = 2;
/** Limits the memory of a loader's batches, late ones included. The values of one batch may have 16 MB. */
const MAX_BATCHES = 8;
/** Limits how many keys fail with a batch. */
const KEYS_PER_BATCH = 100;

/** Reads many keys with one query: those that are requested at the same time, or while other batches are being read. */
export class BatchLoader<T> {
  private readonly waiting = new Map<string, Entry<T>>();
  private readonly batches = new Limiter(BATCHES_AT_ONCE, MAX_BATCHES);

  /**
   * @param readMany returns the values that exist under these keys, by a deadline. If it returns only some of them, and at
   *   least one, it is called again with the other keys.
   */
  constructor(private readonly readMany: (keys: readonly string[], deadline: number) => Promise<FoundValues<T>>) {}

  /**
   * Returns the value under a key, or undefined if there is none. It is read after this call.
   *
   * @param deadline in ms of `performance.now()`
   * @throws TimeoutError at the deadline, or whatever `readMany` throws for the batch
   */
  load(key: string, deadline: number): Promise<T | undefined> {
    // Only one turn is requested while keys wait.
    if (this.waiting.size === 0) {
      setImmediate(() => {
        this.readWaiting();
      });
    }
    const entry = this.waiting.get(key) ?? newEntry<T>();
    entry.deadline = Math.max(entry.deadline, deadline);
    this.waiting.set(key, entry);
    return withDeadline(deadline, entry.found);
  }

  /** Reads the waiting keys when their turn comes. */
  private readWaiting(): void {
    void this.batches.run(async () => {
      const reading = this.read(this.nextBatch());
      if (this.waiting.size > 0) this.readWaiting();
      await reading;
    });
  }

  /** Takes the keys of one batch from those that wait. First rejects the oldest, as long as they have timed out. */
  private nextBatch(): Batch<T> {
    for (const [key, { deadline, reject }] of this.waiting) {
      if (deadline > performance.now()) break;
      this.waiting.delete(key);
      reject(new TimeoutError('not read in time'));
    }
    const batch = [...this.waiting].slice(0, KEYS_PER_BATCH);
    for (const [key] of batch) this.waiting.delete(key);
    return batch;
  }

  /** Reads a batch. Does not hold the values that it has returned. */
  private async read(batch: Batch<T>): Promise<void> {
    while (batch.length > 0) batch = await this.readFirst(batch);
  }

  /** Reads a batch, or a part of it. Returns the rest. */
  private async readFirst(batch: Batch<T>): Promise<Batch<T>> {
    const deadline = Math.max(...batch.map(([, entry]) => entry.deadline));
    const keys = batch.map(([key]) => key);
    // Not the context of an earlier batch, whose end may have started this one.
    const traced = batch[0]?.[1].context ?? ROOT_CONTEXT;
    try {
      const { values, areAll } = await context.with(traced, () => this.readMany(keys, deadline));
      const rest = areAll ? [] : batch.filter(([key]) => !values.has(key));
      for (const [key, { resolve }] of batch) {
        if (areAll || values.has(key)) resolve(values.get(key));
      }
      return rest;
    } catch (error) {
      for (const [, { reject }] of batch) reject(error);
      return [];
    }
  }
}

function newEntry<T>(): Entry<T> {
  const entry: Partial<Entry<T>> = { deadline: -Infinity, context: context.active() };
  entry.found = new Promise((resolve, reject) => Object.assign(entry, { resolve, reject }));
  return entry as Entry<T>;
}
