import { loadavg } from 'node:os';
import { StepError } from '../tools/steps.mjs';
import { GROUPS, TREE_GROUPS } from './create-groups.mjs';
import { Databases } from './databases.mjs';
import { Meter } from './meter.mjs';
import { loadPlots } from './plots.mjs';
import { absolutesTable, resultOf } from './report.mjs';
import { startSubjects } from './subjects.mjs';

export const FULL = {
  rounds: 5,
  warmUpMs: 1000,
  ms: 4000,
  singleMs: 2000,
  bursts: 9,
  largeBursts: 3,
  idleMs: 4000,
  initialWarmUpMs: 5000,
};
export const QUICK = {
  rounds: 3,
  warmUpMs: 300,
  ms: 1000,
  singleMs: 600,
  bursts: 1,
  largeBursts: 1,
  idleMs: 2000,
  initialWarmUpMs: 3000,
};

/**
 * Compares creating through the queue with what a team would write instead, or with another checkout of the service.
 * @param {import('../tools/processes/launcher.mjs').Launcher} launcher
 * @param {{quick: boolean, only: string[], keyed: boolean, rounds?: number, against?: string}} options
 * @returns {Promise<import('./report.mjs').Result>}
 */
export async function runBenchmark(launcher, { quick, only, keyed, rounds, against }) {
  const groups = chosenGroups(only, against);
  const defaults = quick ? QUICK : FULL;
  const size = { ...defaults, rounds: rounds ?? defaults.rounds };
  const [loadBefore] = loadavg();
  const databases = await Databases.start(launcher);
  const versions = await databases.versions();
  const names = Object.values(groups).flatMap((group) => group.subjects);
  const subjects = await startSubjects(launcher, databases, names, { against });
  const meter = new Meter(launcher, databases, { keyed });
  const bench = { databases, subjects, meter, size, loads: [], plots: {} };

  const rows = [];
  await launcher.steps.run('warm-up', () => warmUp(bench));
  for (const [name, { measure }] of Object.entries(groups)) {
    rows.push(...(await launcher.steps.run(name, () => measure(bench))));
  }
  await databases.close();

  const notes = [
    `${size.rounds} interleaved rounds of ${size.ms / 1000} s (${size.bursts} of the burst); a ratio is taken in each round.`,
    keyed ? 'Every create had an Idempotency-Key.' : 'No create had an Idempotency-Key.',
    'The peers store the same fields with the same indexes, except the one without search, which has only unique ones.',
    ...(against ? [`The other tree: ${against}.`] : []),
    `Load average before: ${loadBefore.toFixed(1)}; the generator used ${generatorCost(meter)} of CPU per request.`,
  ];
  const more = bench.loads.length > 0 ? [absolutesTable(bench.loads)] : [];
  return resultOf({ versions, notes, rows, more, meter, plots: { ...loadPlots(bench.loads), ...bench.plots } });
}

function chosenGroups(only, against) {
  const groups = { ...GROUPS, ...(against === undefined ? {} : TREE_GROUPS) };
  const names = only.length > 0 ? only : Object.keys(groups);
  const unknown = names.find((name) => !Object.hasOwn(groups, name));
  if (Object.hasOwn(TREE_GROUPS, unknown ?? '')) throw new StepError(`${unknown} needs --against DIR`);
  if (unknown) throw new StepError(`No row is called ${unknown}; available: ${Object.keys(groups).join(', ')}`);
  return Object.fromEntries(names.map((name) => [name, groups[name]]));
}

/** Runs each subject before it is measured, until V8 has compiled its code and its caches are filled. */
async function warmUp({ subjects, meter, size }) {
  const load = { steady: { connections: 64, warmUpMs: 0, ms: size.initialWarmUpMs } };
  for (const subject of Object.values(subjects)) await meter.measure(subject, load);
}

function generatorCost({ generated }) {
  return `${((generated.cpuMs * 1000) / generated.requests).toFixed(0)} µs`;
}
