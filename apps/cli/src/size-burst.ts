import { parseArgs } from 'node:util';
import { CommandError, runCommand } from './command.js';
import { drainSecondsByFormula, mostBatches, simulateBurst, workersFor } from './size-burst/simulate-burst.js';

const USAGE = `usage: size-burst --items N --seconds T --worker-rate R [--arrival-rate A] [--concurrency C]
  R: creates per second of one worker   A: creates per second that arrive, all at once by default   C: WORKER_CONCURRENCY`;
const OPTIONS = {
  items: { type: 'string' },
  seconds: { type: 'string' },
  'worker-rate': { type: 'string' },
  'arrival-rate': { type: 'string' },
  concurrency: { type: 'string' },
} as const;
const HEAD = ['Workers', 'By formula', 'Simulated', 'Longest wait', 'Most waiting'];
const COLUMN_WIDTH = 14;
/** More would take minutes to simulate. */
const MAX_BATCHES = 100_000;

/** Prints how many workers store a burst in time, what one less and one more would do, and the settings that this needs. */
runCommand(USAGE, (print) => {
  const { values } = parseArgs({ options: OPTIONS });
  const seconds = toNumber(values.seconds);
  const burst = {
    items: toNumber(values.items, { isWhole: true }),
    workerRate: toNumber(values['worker-rate']),
    ...(values['arrival-rate'] !== undefined && { arrivalRate: toNumber(values['arrival-rate']) }),
    ...(values.concurrency !== undefined && { concurrency: toNumber(values.concurrency, { isWhole: true }) }),
  };
  if (mostBatches(burst) > MAX_BATCHES)
    throw new CommandError(
      `More than ${String(MAX_BATCHES)} batches: use fewer --items, a higher --concurrency, or no --arrival-rate`,
    );
  const needed = workersFor(burst, seconds);
  if (needed === undefined)
    throw new CommandError('No number of workers up to 1000 is enough: the creates arrive, or a batch takes, too long');
  const counts = [needed - 1, needed, needed + 1].filter((workers) => workers > 0);
  const drains = new Map(counts.map((workers) => [workers, simulateBurst({ ...burst, workers })]));
  print(lineOf(HEAD));
  for (const [workers, { seconds: simulated, longestWaitS, mostWaiting }] of drains) {
    const times = [drainSecondsByFormula({ ...burst, workers }), simulated, longestWaitS];
    print(lineOf([String(workers), ...times.map((time) => `${time.toFixed(1)} s`), String(mostWaiting)]));
  }
  const noun = needed === 1 ? 'worker stores' : 'workers store';
  print(`${String(needed)} ${noun} ${String(burst.items)} creates within ${String(seconds)} s.`);
  const { longestWaitS = 0, mostWaiting = 0 } = drains.get(needed) ?? {};
  const waitMs = Math.ceil(longestWaitS) * 1000;
  print(
    `This needs BACKLOG_LIMIT above ${String(mostWaiting)}, and CREATE_WAIT_MS of at least ${String(waitMs)} or Prefer: respond-async.`,
  );
});

/** Parses a positive number of up to seven digits before the point. */
function toNumber(text = '', { isWhole = false } = {}): number {
  const pattern = isWhole ? /^\d{1,7}$/ : /^\d{1,7}(\.\d{1,6})?$/;
  if (!pattern.test(text) || Number(text) === 0) throw new CommandError(USAGE);
  return Number(text);
}

function lineOf(cells: readonly string[]): string {
  return cells
    .map((cell) => cell.padEnd(COLUMN_WIDTH))
    .join('')
    .trimEnd();
}
