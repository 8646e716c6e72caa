import { setTimeout as delay } from 'node:timers/promises';
import { isDatabaseUnavailable } from '@app/database';
import { CommandError } from '../command.js';
import type { Loader, Outcome } from './loader.js';
import type { RejectedLine, SourceLine } from './source-line.js';

/** Limits of a batch. While it is being stored, a batch takes about five times the memory of its text. */
const BATCH_LINES = 500;
const BATCH_CHARACTERS = 2_000_000;

const UNAVAILABLE_FOR_MS = 120_000;
const RETRY_MS = 500;

export interface ImportOptions {
  /** How many batches are stored at a time. */
  concurrency: number;
  /** Called after each batch is stored. Calls do not overlap. */
  report: (lines: number, outcome: Outcome) => Promise<void>;
  /** Abort it to start no further batches. A batch that fails aborts it too, so that `runImport` stops reading. */
  stop: AbortController;
}

/**
 * Loads all lines, in batches. After `stop` is aborted, finishes the batches that have started, except those for
 * which MongoDB is unavailable.
 *
 * @throws CommandError if MongoDB remains unavailable. What has been stored by then remains stored.
 */
export async function runImport(
  lines: AsyncIterable<SourceLine | RejectedLine>,
  loader: Loader,
  { concurrency, report, stop }: ImportOptions,
): Promise<void> {
  const pool = new TaskPool(concurrency, () => {
    stop.abort();
  });
  let reported = Promise.resolve();
  try {
    for await (const { valid, rejects } of batches(lines)) {
      if (stop.signal.aborted) break;
      const store = await retryWhileUnavailable(() => loader.prepare(valid), stop.signal);
      if (store === undefined) break;
      await pool.start(async () => {
        const outcome = await retryWhileUnavailable(store, stop.signal);
        if (outcome === undefined) return;
        outcome.rejects = [...rejects, ...outcome.rejects].sort((a, b) => a.number - b.number);
        reported = reported.then(() => report(valid.length + rejects.length, outcome));
        await reported;
      });
    }
  } catch (error) {
    // Aborting makes the reader throw.
    if (!stop.signal.aborted) throw error;
  } finally {
    await pool.drain();
  }
}

interface Batch {
  valid: SourceLine[];
  rejects: RejectedLine[];
}

async function* batches(lines: AsyncIterable<SourceLine | RejectedLine>): AsyncGenerator<Batch> {
  let batch: Batch = { valid: [], rejects: [] };
  let [count, characters] = [0, 0];
  for await (const line of lines) {
    if ('reasons' in line) batch.rejects.push(line);
    else batch.valid.push(line);
    count += 1;
    characters += line.text.length;
    if (count < BATCH_LINES && characters < BATCH_CHARACTERS) continue;
    yield batch;
    batch = { valid: [], rejects: [] };
    [count, characters] = [0, 0];
  }
  if (count > 0) yield batch;
}

/** Runs at most `size` tasks at a time. The first error is thrown by the next call of `start` or `drain`. */
class TaskPool {
  private readonly tasks = new Set<Promise<void>>();
  private failure: { error: unknown } | undefined;

  constructor(
    private readonly size: number,
    private readonly onFailure: () => void,
  ) {}

  async start(work: () => Promise<void>): Promise<void> {
    while (this.tasks.size >= this.size) await Promise.race(this.tasks);
    this.throwFailure();
    const task = work()
      .catch((error: unknown) => {
        this.failure ??= { error };
        this.onFailure();
      })
      .finally(() => this.tasks.delete(task));
    this.tasks.add(task);
  }

  async drain(): Promise<void> {
    await Promise.all(this.tasks);
    this.throwFailure();
  }

  private throwFailure(): void {
    if (this.failure !== undefined) throw this.failure.error;
  }
}

/**
 * Retries while MongoDB is unavailable, until `stop` is aborted. Returns undefined if no attempt has succeeded by then.
 * Ids are the same each time, so that nothing is stored twice.
 */
async function retryWhileUnavailable<T>(attempt: () => Promise<T>, stop: AbortSignal): Promise<T | undefined> {
  const end = performance.now() + UNAVAILABLE_FOR_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      if (stop.aborted) return undefined;
      if (performance.now() > end)
        throw new CommandError('MongoDB became unavailable; run the same command again once it is back');
      await delay(RETRY_MS, undefined, { signal: stop }).catch(() => undefined);
    }
  }
}
