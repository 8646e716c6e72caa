import { loadavg } from 'node:os';
import { Databases } from './databases.mjs';
import { Meter } from './meter.mjs';
import { writePage } from './page.mjs';
import { isMet, reportOf } from './report.mjs';

/**
 * What every benchmark works with.
 * @typedef {object} Bench
 * @property {import('../tools/processes/launcher.mjs').Launcher} launcher
 * @property {Databases} databases
 * @property {Meter} meter
 * @property {object} size full or quick, as the benchmark defines it
 * @property {{only: string[], against?: string, keyed?: boolean}} options
 */

/** Runs a benchmark and prints its report. Returns whether every "must" is met, and nothing happened that must not. */
export async function runBenchmark(launcher, name, options) {
  const { FULL, QUICK, measure } = await import(`./${name}.mjs`);
  const size = options.quick ? QUICK : FULL;
  const [loadBefore] = loadavg();
  const databases = await Databases.start(launcher, options.data);
  const versions = await databases.versions();
  const meter = new Meter(launcher, databases);
  const rounds = Number(options.rounds ?? size.rounds);
  const findings = await measure({ launcher, databases, meter, size: { ...size, rounds }, options });
  await databases.close();

  const { cpuMs, requests } = meter.generated;
  const generator = `the generator used ${((cpuMs * 1000) / requests).toFixed(0)} µs of CPU per request`;
  const notes = [...findings.notes, `Load average before: ${loadBefore.toFixed(1)}; ${generator}.`];
  const { text, page } = reportOf({ ...findings, notes }, meter, versions);
  process.stdout.write(`${text}\n`);
  if (options.write) await writePage(name, page, findings.plots ?? {});
  return findings.rows.every(isMet) && meter.problems.length === 0;
}
