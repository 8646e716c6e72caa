import { groupsOf } from './create-groups.mjs';
import { CREATES_PER_SECOND, duration, median } from './figures.mjs';
import { chosen, measureGroups } from './groups.mjs';
import { barPlot } from './plots.mjs';
import { table } from './report.mjs';
import { startSubjects, titleOf } from './subjects.mjs';

const FULL_ROUNDS = { rounds: 9, bursts: 9, deadlines: 3 };
const QUICK_ROUNDS = { rounds: 3, bursts: 1, deadlines: 1 };
export const FULL = { ...FULL_ROUNDS, warmUpMs: 1000, ms: 4000, singleMs: 2000, idleMs: 4000, initialWarmUpMs: 15_000 };
export const QUICK = { ...QUICK_ROUNDS, warmUpMs: 300, ms: 1000, singleMs: 600, idleMs: 2000, initialWarmUpMs: 3000 };

const PROCESSES = { api: 'CPU per create: API', worker: 'worker', mongod: 'MongoDB', redis: 'Redis' };

/**
 * Compares creating through the queue with what a team would write instead, or with another checkout of the service.
 * @param {import('./benchmark.mjs').Bench} bench
 * @returns {Promise<import('./report.mjs').Findings>}
 */
export async function measure(bench) {
  const { meter, size, options } = bench;
  const groups = chosen(groupsOf(bench), options.only);
  const names = Object.values(groups).flatMap(({ variants }) =>
    Object.entries(variants).map(([variant, { subject = variant }]) => subject),
  );
  const subjects = await startSubjects(bench, names);
  await meter.warmUp(subjects, { creates: { connections: 64, ms: size.initialWarmUpMs } });
  const { rows, results } = await measureGroups(bench, subjects, groups);
  const listed = Object.entries(groups)
    .filter(([, { isListed }]) => isListed)
    .map(([name, { variants }]) => [`${variants.service.creates.connections} connections`, results[name]]);
  const notes = [
    `${size.rounds} interleaved rounds of ${size.ms / 1000} s (${size.bursts} of the burst); a ratio is taken in each round.`,
    'No create had an Idempotency-Key. The peers store the same fields with the same indexes, except the one without search, which has only unique ones.',
    ...(options.against ? [`The other tree: ${options.against}.`] : []),
  ];
  return {
    notes,
    rows,
    tables: listed.length > 0 ? [absolutesTable(listed)] : [],
    plots: listed.length > 0 ? loadPlots(listed) : {},
  };
}

/** Returns a table of the absolute values from which the ratios were computed. */
function absolutesTable(listed) {
  const lines = listed.flatMap(([clients, results]) =>
    Object.entries(results).map(([name, rounds]) => {
      const of = (value) => median(rounds.map(value));
      const cpu = Object.keys(PROCESSES).map((each) =>
        of(({ creates, cpuMs }) => cpuMs[each] / creates.responses[200]),
      );
      const together = cpu.filter((ms) => !Number.isNaN(ms)).reduce((sum, ms) => sum + ms, 0);
      return [
        `${titleOf(name)}, ${clients}`,
        of(({ creates }) => creates.perSecond).toFixed(0),
        duration(of(({ creates }) => creates.ms.p50)),
        duration(of(({ creates }) => creates.ms.p99)),
        ...[...cpu, together].map((ms) => (Number.isNaN(ms) ? '' : `${ms.toFixed(2)} ms`)),
      ];
    }),
  );
  return table(['', 'creates/s', 'p50', 'p99', ...Object.values(PROCESSES), 'together'], lines);
}

function loadPlots(listed) {
  const groups = listed.map(([clients]) => clients);
  const plot = (title, of, format) => {
    const series = Object.keys(listed[0][1]).map((name) => ({
      name: titleOf(name),
      values: listed.map(([, results]) => median((results[name] ?? []).map(of))),
    }));
    return barPlot({ title, groups, series, format });
  };
  const { of, format } = CREATES_PER_SECOND;
  const p99 = ({ creates }) => creates.ms.p99;
  return { creates: plot('Creates per second', of, format), p99: plot('p99 of a create', p99, duration) };
}
