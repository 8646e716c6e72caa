import { setTimeout as delay } from 'node:timers/promises';
import { isDatabaseAway } from '@app/database';
import { CommandError } from '../command.js';
import type { Loader, Outcome } from './loader.js';
import type { RejectedLine, SourceLine } from './source-line.js';

/** Lines and characters of a batch; a batch in flight takes some five times its text. */
const BATCH_LINES = 500;
const BATCH_CHARACTERS = 2_000_000;

const AWAY_FOR_MS = 120_000;
const RETRY_MS = 500;

export interface ImportOptions {
  /** Batches that are stored at a time. */
  concurrency: number;
  /** Told of each batch once it is stored; one call after the other. */
  report: (lines: number, outcome: Outcome) => Promise<void>;
  /** Aborted when no further batch is to be begun; a batch that fails aborts it, so that nobody waits for further lines. */
  stop: AbortController;
}

/**
 * Loads all lines, in batches. Told to stop, it finishes those that it has begun.
 *
 * @throws CommandError when MongoDB stays away: what is stored by then stays stored
 */
export async function runImport(
  lines: AsyncIterable<SourceLine | RejectedLine>,
  loader: Loader,
  { concurrency, report, stop }: ImportOptions,
): Promise<void> {
  const flight = new Flight(concurrency, () => {
    stop.abort();
  });
  let reported = Promise.resolve();
  try {
    for await (const { valid, rejects } of batches(lines)) {
      if (stop.signal.aborted) break;
      const store = await whileAway(() => loader.prepare(valid));
      await flight.begin(async () => {
        const outcome = await whileAway(store);
        outcome.rejects = [...rejects, ...outcome.rejects];
        reported = reported.then(() => report(valid.length + rejects.length, outcome));
        await reported;
      });
    }
  } catch (error) {
    // Reading is broken off in the middle of a line.
    if (!stop.signal.aborted) throw error;
  } finally {
    await flight.land();
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

/** So many tasks at a time; the first error is thrown to whoever begins the next or waits for the end. */
class Flight {
  private readonly tasks = new Set<Promise<void>>();
  private failure: { error: unknown } | undefined;

  constructor(
    private readonly size: number,
    private readonly onFailure: () => void,
  ) {}

  async begin(work: () => Promise<void>): Promise<void> {
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

  async land(): Promise<void> {
    await Promise.all(this.tasks);
    this.throwFailure();
  }

  private throwFailure(): void {
    if (this.failure !== undefined) throw this.failure.error;
  }
}

/** Repeats what MongoDB was away for: ids are the same each time, so that nothing is stored twice. */
async function whileAway<T>(attempt: () => Promise<T>): Promise<T> {
  const end = performance.now() + AWAY_FOR_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      if (performance.now() > end)
        throw new CommandError('MongoDB went away; run the same command again once it is back');
      await delay(RETRY_MS);
    }
  }
}
