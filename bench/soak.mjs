import { Databases } from './databases.mjs';
import { Meter } from './meter.mjs';
import { resultOf, table } from './report.mjs';
import { TIMES } from './rows.mjs';
import { startSubjects } from './subjects.mjs';

const CONNECTIONS = 256;
const SLICE_MS = 30_000;
const MINUTES = 10;
const QUICK_MINUTES = 2;
/** Allows for what varies between two garbage collections. */
const MAX_GROWTH = 1.15;

/**
 * Checks that memory stays flat at full load: creates with an Idempotency-Key over 256 connections for ten minutes.
 * @param {import('../tools/processes/launcher.mjs').Launcher} launcher
 * @param {{quick: boolean}} options two minutes instead of ten
 * @returns {Promise<import('./report.mjs').Result>}
 */
export async function runBenchmark(launcher, { quick }) {
  const databases = await Databases.start(launcher);
  const versions = await databases.versions();
  const { service } = await startSubjects(launcher, databases, ['service']);
  const meter = new Meter(launcher, databases, { keyed: true });
  const slices = [];
  for (let left = ((quick ? QUICK_MINUTES : MINUTES) * 60_000) / SLICE_MS; left > 0; left -= 1) {
    const steady = { connections: CONNECTIONS, warmUpMs: 0, ms: SLICE_MS };
    const { creates, peakMegabytes } = await meter.measure(service, { steady });
    slices.push({ ...peakMegabytes, redis: await databases.redisMegabytes(), perSecond: creates.perSecond });
    launcher.steps.print(JSON.stringify(slices.at(-1)));
  }
  await databases.close();

  const third = Math.floor(slices.length / 3);
  const parts = [slices.slice(0, third), slices.slice(third, -third), slices.slice(-third)];
  const processes = ['API', 'worker', 'Redis'];
  const rows = processes.map((title) => ({
    figure: `most memory of the ${title} in the last third of the time against the second`,
    better: 'less',
    must: MAX_GROWTH,
    ...TIMES,
    values: [most(parts[2], title) / most(parts[1], title)],
  }));
  const lines = processes.map((title) => [title, ...parts.map((part) => `${most(part, title).toFixed(0)} MB`)]);
  const rate = slices.reduce((sum, { perSecond }) => sum + perSecond, 0) / slices.length;
  const minutes = (slices.length * SLICE_MS) / 60_000;
  const notes = [
    `${minutes} minutes of ${rate.toFixed(0)} creates/s over ${CONNECTIONS} connections, each with an Idempotency-Key.`,
  ];
  const more = [table(['Most memory', 'first third', 'second third', 'last third'], lines)];
  return resultOf({ versions, notes, rows, more, meter });
}

function most(slices, title) {
  return Math.max(...slices.map((slice) => slice[title.toLowerCase()]));
}
