// Runs the project's benchmarks from a bare checkout: `npm run bench -- NAME [options]`, with a NAME of BENCHMARKS below.
// Progress goes to stderr, the results go to stdout. The exit code is 1 if a "must" is missed.
//
//   --quick       fewer and shorter rounds, and fewer items: a few minutes instead of up to half an hour, but noisier
//   --only TEXT   only groups of figures with this name or, if none has it, with this text in their name; may be repeated
//   --rounds N    interleaved rounds of steady loads
//   --against DIR create, read and sellers: compares with another checkout of the service, built before, in the same
//                 rounds
//   --data DIR    keeps MongoDB's data in this folder. The next run of read or scale reuses what this one has loaded;
//                 loading a million items takes most of the time of scale
//   --write       replaces the part of docs/benchmarks.md that belongs to this benchmark, or of docs/metrics.md for
//                 dashboard, and its plots
import '../tools/checkout/install.mjs';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Steps, StepError } from '../tools/steps.mjs';

const { buildIfNeeded } = await import('../tools/checkout/build.mjs');
const { launch } = await import('../tools/processes/launcher.mjs');
const { startDatabases } = await import('./databases.mjs');
const { Meter } = await import('./meter.mjs');
const { writePage } = await import('./page.mjs');
const { isMet, reportOf } = await import('./report.mjs');

const BENCHMARKS = ['create', 'read', 'scale', 'telemetry', 'workers', 'sizing', 'sellers', 'dashboard'];
const ONLY_OF = { against: ['create', 'read', 'sellers'], data: ['read', 'scale'] };
const OPTIONS = {
  quick: { type: 'boolean' },
  only: { type: 'string', multiple: true, default: [] },
  rounds: { type: 'string' },
  against: { type: 'string' },
  data: { type: 'string' },
  write: { type: 'boolean' },
};
/**
 * How much each benchmark measures. The words of searches are in the generated listings, which are always the same. With
 * `rare`, a search just fills a page of the small database. No item has two disjoint words.
 */
const SIZES = createRequire(import.meta.url)('./sizes.json');

/**
 * What every benchmark works with. A benchmark is a module of its name, whose function `measure` takes a Bench and
 * resolves to the {@link import('./report.mjs').Findings}.
 * @typedef {object} Bench
 * @property {import('../tools/processes/launcher.mjs').Launcher} launcher
 * @property {Awaited<ReturnType<import('./databases.mjs').startDatabases>>} databases
 * @property {import('./meter.mjs').Meter} meter
 * @property {object} size full or quick, from sizes.json
 * @property {{only: string[], against?: string}} options
 * @property {string} [peers] the folder of the compiled peers
 */

await launch(new Steps(process.stderr), async (launcher) => {
  const { name, options } = readArguments();
  await buildIfNeeded(launcher);
  return (await runBenchmark(launcher, name, options)) ? 0 : 1;
});

/** Runs a benchmark and prints its report. Returns whether every "must" is met, and nothing happened that must not. */
async function runBenchmark(launcher, name, options) {
  const { measure } = await import(`./${name}.mjs`);
  const size = { ...SIZES[name][options.quick ? 'quick' : 'full'] };
  if (options.rounds) size.rounds = Number(options.rounds);
  const [loadBefore] = loadavg();
  const databases = await startDatabases(launcher, options.data);
  const meter = new Meter(launcher, databases);
  const findings = await measure({ launcher, databases, meter, size, options });

  const { cpuMs, requests } = meter.generated;
  const generator = `the generator used ${((cpuMs * 1000) / requests).toFixed(0)} µs of CPU per request`;
  const notes = [...(findings.notes ?? []), `Load average before: ${loadBefore.toFixed(1)}; ${generator}.`];
  // The dashboard has no rounds.
  if (size.ms)
    notes.unshift(`${size.rounds} interleaved rounds of ${size.ms / 1000} s; a ratio is taken in each round.`);
  const { text, page } = reportOf({ ...findings, notes }, meter, databases.versions);
  process.stdout.write(`${text}\n`);
  if (options.write) await writePage(name, page, findings.plots ?? {});
  return findings.rows.every(isMet) && meter.problems.length === 0;
}

function readArguments() {
  const [name, ...args] = process.argv.slice(2);
  const { values } = parseArgs({ args, options: OPTIONS });
  const { rounds = '1', against } = values;
  if (!BENCHMARKS.includes(name)) throw new StepError(`Which benchmark? Available: ${BENCHMARKS.join(', ')}`);
  if (!/^[1-9]\d?$/.test(rounds)) throw new StepError('--rounds must be a whole number from 1 to 99');
  for (const [option, names] of Object.entries(ONLY_OF))
    if (option in values && !names.includes(name)) throw new StepError(`Only ${names.join(', ')} have --${option}`);
  if (against === undefined) return { name, options: values };
  if (!existsSync(join(against, 'dist', 'apps', 'api', 'src', 'main.js'))) {
    throw new StepError(`${against} is not a built checkout`, { hint: 'run `npm run build` there' });
  }
  return { name, options: { ...values, against: resolve(against) } };
}
