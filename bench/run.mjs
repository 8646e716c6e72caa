// Runs the project's benchmarks from a bare checkout: `npm run bench -- NAME [options]`, with a NAME of BENCHMARKS below.
// Progress goes to stderr, the results go to stdout. The exit code is 1 if a "must" is missed.
//
//   --quick       fewer and shorter rounds, and fewer items: a few minutes instead of up to half an hour, but noisier
//   --only NAME   create: one group of figures. read: part of the name of a figure. May be repeated
//   --rounds N    create, read, telemetry, limits, workers and sizing: interleaved rounds, instead of 9, 5, 9, 9, 5 and 5
//   --against DIR create and read: compares with another checkout of the service, built before, in the same rounds
//   --keyed       create: sends an Idempotency-Key with every create
//   --data DIR    read and scale: keeps MongoDB's data in this folder. The next run reuses what this one has loaded;
//                 loading a million items takes most of the time of scale
//   --write       replaces the part of docs/benchmarks.md that belongs to this benchmark, or of docs/metrics.md for
//                 dashboard, and its plots
import '../tools/checkout/install.mjs';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Steps, StepError } from '../tools/steps.mjs';

const { buildIfNeeded } = await import('../tools/checkout/build.mjs');
const { launch } = await import('../tools/processes/launcher.mjs');

const INTERRUPTED = 130;
const OPTIONS = {
  quick: { type: 'boolean' },
  only: { type: 'string', multiple: true, default: [] },
  rounds: { type: 'string' },
  against: { type: 'string' },
  keyed: { type: 'boolean' },
  data: { type: 'string' },
  write: { type: 'boolean' },
};
/** The options of each benchmark. */
const BENCHMARKS = {
  create: ['quick', 'only', 'rounds', 'against', 'keyed', 'write'],
  read: ['quick', 'only', 'rounds', 'against', 'data', 'write'],
  scale: ['quick', 'data', 'write'],
  telemetry: ['quick', 'rounds', 'write'],
  limits: ['quick', 'rounds', 'write'],
  workers: ['quick', 'rounds', 'write'],
  sizing: ['quick', 'rounds', 'write'],
  sellers: ['quick', 'rounds', 'write'],
  dashboard: ['quick', 'write'],
};

await launch(
  new Steps(process.stderr),
  async (launcher) => {
    const { name, options } = readArguments();
    await buildIfNeeded(launcher);
    const { runBenchmark } = await import('./benchmark.mjs');
    return (await runBenchmark(launcher, name, options)) ? 0 : 1;
  },
  { exitCodeWhenStopped: INTERRUPTED },
);

function readArguments() {
  const [name = '', ...args] = process.argv.slice(2);
  if (!Object.hasOwn(BENCHMARKS, name)) {
    const names = Object.keys(BENCHMARKS).join(', ');
    throw new StepError(`Which benchmark? Available: ${names}`, { hint: 'npm run bench -- create' });
  }
  const options = parse(name, args);
  const { rounds, against } = options;
  if (rounds !== undefined && !/^[1-9]\d?$/.test(rounds)) {
    throw new StepError('--rounds must be a whole number from 1 to 99');
  }
  if (against !== undefined && !existsSync(join(against, 'dist', 'apps', 'api', 'src', 'main.js'))) {
    throw new StepError(`${against} is not a built checkout`, { hint: 'run `npm run build` there' });
  }
  return { name, options: { ...options, against: against && resolve(against) } };
}

function parse(name, args) {
  const options = Object.fromEntries(BENCHMARKS[name].map((option) => [option, OPTIONS[option]]));
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new StepError(error.message);
  }
}
