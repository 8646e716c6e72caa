import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { uniqueWord, validInput } from '../support/items.js';

/** One request of the quiet client. */
interface Attempt {
  operation: 'create' | 'getById' | 'getAll';
  /** The status of the response; `lost` without one. */
  status: number | 'lost';
  afterMs: number;
}

/** A well-behaved client that creates and reads a few items a second during an attack. */
export class QuietClient {
  private constructor(private readonly thread: Worker) {}

  static async start(base: string): Promise<QuietClient> {
    const input = validInput({ name: `Quiet ${uniqueWord()}` });
    const thread = new Worker(join(__dirname, 'quiet-thread.mjs'), { workerData: { base, input } });
    await once(thread, 'online');
    return new QuietClient(thread);
  }

  /** Stops the client. Returns what it noticed of the attack, in sentences. */
  async stop(withinMs: number): Promise<string[]> {
    this.thread.postMessage('stop');
    const [attempts] = (await once(this.thread, 'message')) as [Attempt[]];
    const creates = attempts.filter(({ operation }) => operation === 'create');
    const reads = attempts.filter(({ operation }) => operation !== 'create');
    return [
      ...tooSlow('creates', creates, withinMs),
      ...tooSlow('reads', reads, withinMs),
      ...counted(attempts.filter(({ status }) => status !== 200)),
    ];
  }
}

function tooSlow(what: string, attempts: Attempt[], withinMs: number): string[] {
  const sorted = attempts.map(({ afterMs }) => afterMs).sort((a, b) => a - b);
  const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Infinity;
  return p99 <= withinMs ? [] : [`p99 of ${what} was ${p99.toFixed(0)} ms`];
}

function counted(attempts: Attempt[]): string[] {
  const counts = new Map<string, number>();
  for (const { operation, status } of attempts) {
    const outcome = `${operation} got ${String(status)}`;
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }
  return [...counts].map(([outcome, count]) => `${outcome} ${String(count)} times`);
}
