import { createRequire } from 'node:module';
import { loadavg } from 'node:os';
import { Databases } from './databases.mjs';
import { Meter } from './meter.mjs';
import { writePage } from './page.mjs';
import { isMet, reportOf } from './report.mjs';

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
 * @property {Databases} databases
 * @property {Meter} meter
 * @property {object} size full or quick, from sizes.json
 * @property {{only: string[], against?: string}} options
 * @property {string} [peers] the folder of the compiled peers
 */

/** Runs a benchmark and prints its report. Returns whether every "must" is met, and nothing happened that must not. */
export async function runBenchmark(launcher, name, options) {
  const { measure } = await import(`./${name}.mjs`);
  const size = { ...SIZES[name][options.quick ? 'quick' : 'full'] };
  if (options.rounds) size.rounds = Number(options.rounds);
  const [loadBefore] = loadavg();
  const databases = await Databases.start(launcher, options.data);
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
