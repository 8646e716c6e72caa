import { groupsOf } from './create-groups.mjs';
import { cpuPerCreate, CREATES_PER_SECOND, duration, median, number, P50, P99 } from './figures.mjs';
import { chosen, measureGroups } from './groups.mjs';
import { figurePlot, linePlot } from './plots.mjs';
import { table } from './report.mjs';
import { startSubjects, titleOf } from './subjects.mjs';

/** The groups whose absolute values are listed and plotted, and their connections. */
const LISTED = /^(?:creates|against)-(\d+)$/;
const COLUMNS = [
  ['creates/s', CREATES_PER_SECOND.of, (value) => value.toFixed(0)],
  ['p50', P50.of],
  ['p99', P99.of],
  ['CPU per create: API', cpuPerCreate('api')],
  ['worker', cpuPerCreate('worker')],
  ['MongoDB', cpuPerCreate('mongod')],
  ['Redis', cpuPerCreate('redis')],
  ['together', (measured) => cpuPerCreate(...Object.keys(measured.cpuMs))(measured)],
];

/** Compares creating through the queue with what a team would write instead, or with another checkout. */
export async function measure(bench) {
  const { meter, size, options } = bench;
  const groups = chosen(groupsOf(bench), options.only);
  const names = Object.values(groups).flatMap(({ variants }) =>
    Object.entries(variants).map(([variant, { subject = variant }]) => subject),
  );
  const subjects = await startSubjects(bench, names);
  await meter.warmUp(Object.values(subjects), { creates: { connections: 64, ms: size.initialWarmUpMs } });
  const { rows, results } = await measureGroups(bench, subjects, groups);
  const notes = [
    `${size.bursts} rounds of the burst.`,
    'No create had an Idempotency-Key. The peers store the same fields with the same indexes, except the one without search, which has only unique ones.',
    ...(options.against ? [`The other tree: ${options.against}.`] : []),
  ];
  const listed = Object.entries(results)
    .filter(([name]) => LISTED.test(name))
    .map(([name, byVariant]) => [`${LISTED.exec(name)[1]} connections`, byVariant]);
  const findings = { notes, rows, tables: [], plots: {} };
  if (listed.length > 0) {
    findings.tables.push(absolutesTable(listed));
    findings.plots.creates = figurePlot({ ...CREATES_PER_SECOND, title: 'Creates per second' }, listed, titleOf);
    findings.plots.p99 = figurePlot({ ...P99, title: 'p99 of a create' }, listed, titleOf);
  }
  const { 'burst-10000': burst } = groups;
  if (burst)
    findings.plots.burst = burstPlot(burst.variants.service.creates, results['burst-10000'].service.at(-1).creates);
  return findings;
}

/** Returns a table of the absolute values from which the ratios were computed. */
function absolutesTable(listed) {
  const lines = listed.flatMap(([clients, results]) =>
    Object.entries(results).map(([name, rounds]) => {
      const cells = COLUMNS.map(([, of, format = duration]) => {
        const value = median(rounds.map(of));
        return Number.isNaN(value) ? '' : format(value);
      });
      return [`${titleOf(name)}, ${clients}`, ...cells];
    }),
  );
  return table(['', ...COLUMNS.map(([title]) => title)], lines);
}

/** Returns a plot of how the service keeps up with a burst. */
function burstPlot({ connections, rate, count }, { timeline }) {
  const origin = [0, 0];
  const lines = { created: [origin, ...timeline], sent: [origin, [count / rate, count]] };
  return linePlot(`${number(count)} creates over ${number(connections)} connections`, lines);
}
