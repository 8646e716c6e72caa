// The project's own benchmarks, from a bare checkout: `npm run bench -- create [--quick] [--only ROW]… [--keyed]
// [--rounds N] [--against DIR]`, and `http`, `read`, `scale` and `soak` with [--quick]. What is being done goes to stderr, the tables
// for the README to stdout; a missed "must" is exit code 1.
//
//   --quick       fewer and shorter rounds, and fewer items: some three minutes instead of fifteen, and noisier
//   --only        one group of rows, may be repeated: creates-64, creates-256, always-64, always-256, unknown, validator,
//                 burst, burst-10000, deadlines, single; with --against also against-64, against-256; of read, part of
//                 the figure's name
//   --keyed       every create of every load has an Idempotency-Key
//   --rounds N    interleaved rounds of steady loads, instead of 5 (3 with --quick)
//   --against DIR create and read: against another checkout of the service, which must be built, in the same rounds
//   --data DIR    read and scale: a folder for MongoDB's data, which stays; the next run finds in it what this one has
//                 loaded, which for scale's million items takes most of the time
import '../tools/node-version.mjs';
import { parseArgs } from 'node:util';
import { buildIfNeeded } from '../tools/checkout/build.mjs';
import { installIfNeeded } from '../tools/checkout/install.mjs';
import { launch } from '../tools/processes/launcher.mjs';
import { Steps, StepError } from '../tools/steps.mjs';

const INTERRUPTED = 130;
const BENCHMARKS = ['create', 'http', 'read', 'scale', 'soak'];

await launch(
  new Steps(process.stderr),
  async (launcher) => {
    const { name, options } = readArguments();
    await installIfNeeded(launcher);
    await buildIfNeeded(launcher);
    // Not before everything is installed: it needs packages.
    const { runBenchmark } = await import(`./${name}.mjs`);
    const { text, passed } = await runBenchmark(launcher, options);
    process.stdout.write(`${text}\n`);
    return passed ? 0 : 1;
  },
  { exitCodeWhenStopped: INTERRUPTED },
);

function readArguments() {
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string', multiple: true, default: [] },
        keyed: { type: 'boolean', default: false },
        rounds: { type: 'string' },
        against: { type: 'string' },
        data: { type: 'string' },
      },
    });
    const [name] = positionals;
    if (positionals.length === 1 && BENCHMARKS.includes(name)) return { name, options: values };
  } catch (error) {
    throw new StepError(error.message);
  }
  throw new StepError(`Which benchmark? There is: ${BENCHMARKS.join(', ')}`, { hint: 'npm run bench -- create' });
}
