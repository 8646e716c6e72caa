import { Databases } from './databases.mjs';
import { Meter } from './meter.mjs';
import { machine, table } from './report.mjs';
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
 * @returns {Promise<{text: string, passed: boolean}>} Markdown, and whether the peak memory of the last third is at
 *   most 1.15 times that of the second third
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
    launcher.steps.say(JSON.stringify(slices.at(-1)));
  }
  await databases.close();

  const third = Math.floor(slices.length / 3);
  const parts = [slices.slice(0, third), slices.slice(third, -third), slices.slice(-third)];
  const growth = ['api', 'worker', 'redis'].map((name) => most(parts[2], name) / most(parts[1], name));
  const lines = ['API', 'worker', 'Redis'].map((title, index) => {
    const name = title.toLowerCase();
    return [title, ...parts.map((part) => `${most(part, name).toFixed(0)} MB`), `${growth[index].toFixed(2)} ×`];
  });
  const rate = slices.reduce((sum, { perSecond }) => sum + perSecond, 0) / slices.length;
  const text = [
    `${machine(versions)}.`,
    `${(slices.length * SLICE_MS) / 60_000} minutes of ${rate.toFixed(0)} creates/s over ${CONNECTIONS} connections, each with an Idempotency-Key.`,
    table(['Most memory', 'first third', 'second third', 'last third', 'last to second (must ≤ 1.15 ×)'], lines),
    ...meter.problems,
  ].join('\n\n');
  return { text, passed: growth.every((ratio) => ratio <= MAX_GROWTH) && meter.problems.length === 0 };
}

function most(slices, name) {
  return Math.max(...slices.map((slice) => slice[name]));
}
