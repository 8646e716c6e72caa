// Runs the project's benchmarks from a bare checkout: `npm run bench -- create [--quick] [--only ROW]… [--keyed]
// [--rounds N] [--against DIR]`, and `http`, `read`, `scale` and `soak` with [--quick]. Progress goes to stderr, the
// results go to stdout. The exit code is 1 if a "must" is missed.
//
//   --quick       fewer and shorter rounds, and fewer items: about three minutes instead of fifteen, but noisier
//   --only        one group of rows, may be repeated. create: creates-64, creates-256, always-64, always-256, unknown,
//                 validator, burst, burst-10000, deadlines, single; with --against also against-64, against-256.
//                 read: part of the name of a figure
//   --keyed       sends an Idempotency-Key with every create
//   --rounds N    interleaved rounds of steady loads, instead of 5 (3 with --quick)
//   --against DIR create and read: compares with another checkout of the service, built before, in the same rounds
//   --write       replaces the part of docs/benchmarks.md that belongs to this benchmark, and its plots
//   --data DIR    read and scale: keeps MongoDB's data in this folder. The next run reuses what this one has loaded;
//                 loading a million items takes most of the time of scale
import '../tools/checkout/install.mjs';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Steps, StepError } from '../tools/steps.mjs';

const { buildIfNeeded } = await import('../tools/checkout/build.mjs');
const { launch } = await import('../tools/processes/launcher.mjs');

const INTERRUPTED = 130;
/** The options of each benchmark. */
const OPTIONS = {
  create: ['quick', 'only', 'keyed', 'rounds', 'against', 'write'],
  http: ['quick', 'write'],
  read: ['quick', 'only', 'rounds', 'against', 'data', 'write'],
  scale: ['quick', 'data', 'write'],
  soak: ['quick', 'write'],
};

await launch(
  new Steps(process.stderr),
  async (launcher) => {
    const { name, options } = readArguments();
    await buildIfNeeded(launcher);
    const { runBenchmark } = await import(`./${name}.mjs`);
    const result = await runBenchmark(launcher, options);
    process.stdout.write(`${result.text}\n`);
    if (options.write) {
      const { writePage } = await import('./page.mjs');
      await writePage(name, result);
    }
    return result.passed ? 0 : 1;
  },
  { exitCodeWhenStopped: INTERRUPTED },
);

function readArguments() {
  const { positionals, values } = parse();
  const [name] = positionals;
  if (positionals.length !== 1 || !Object.hasOwn(OPTIONS, name)) {
    const names = Object.keys(OPTIONS).join(', ');
    throw new StepError(`Which benchmark? Available: ${names}`, { hint: 'npm run bench -- create' });
  }
  const other = Object.keys(values).find((option) => !OPTIONS[name].includes(option));
  if (other !== undefined) throw new StepError(`${name} has no option --${other}`);
  const { rounds, against } = values;
  if (rounds !== undefined && !/^[1-9]\d?$/.test(rounds)) {
    throw new StepError('--rounds must be a whole number from 1 to 99');
  }
  if (against !== undefined && !existsSync(join(against, 'dist', 'apps', 'api', 'src', 'main.js'))) {
    throw new StepError(`${against} is not a built checkout`, { hint: 'run `npm run build` there' });
  }
  const options = { quick: false, only: [], keyed: false, write: false, ...values };
  return {
    name,
    options: { ...options, rounds: rounds && Number(rounds), against: against && resolve(against) },
  };
}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean' },
        only: { type: 'string', multiple: true },
        keyed: { type: 'boolean' },
        rounds: { type: 'string' },
        against: { type: 'string' },
        data: { type: 'string' },
        write: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new StepError(error.message);
  }
}
