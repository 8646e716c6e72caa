import { megabytes, times } from './figures.mjs';
import { table } from './report.mjs';
import { startSubjects } from './subjects.mjs';

export const FULL = { minutes: 10 };
export const QUICK = { minutes: 2 };
const CONNECTIONS = 256;
const SLICE_MS = 30_000;
/** Allows for what varies between two garbage collections. */
const MAX_GROWTH = 1.15;

/**
 * Checks that memory stays flat at full load: creates with an Idempotency-Key over 256 connections.
 * @param {import('./benchmark.mjs').Bench} bench
 * @returns {Promise<import('./report.mjs').Findings>}
 */
export async function measure(bench) {
  const { launcher, databases, meter, size } = bench;
  const { service } = await startSubjects(bench, ['service']);
  const slices = [];
  while (slices.length * SLICE_MS < size.minutes * 60_000) {
    const load = { creates: { connections: CONNECTIONS, ms: SLICE_MS, keyed: true } };
    const { creates, peakMegabytes: peak } = await meter.measure(service, load);
    const redis = Number(/used_memory:(\d+)/.exec(await databases.redis.info('memory'))?.[1]) / 1e6;
    slices.push({ API: peak.api, worker: peak.worker, Redis: redis, perSecond: creates.perSecond });
    launcher.steps.print(JSON.stringify(slices.at(-1)));
  }

  const third = Math.floor(slices.length / 3);
  const parts = [slices.slice(0, third), slices.slice(third, -third), slices.slice(-third)];
  const peaks = ['API', 'worker', 'Redis'].map((title) => ({
    title,
    values: parts.map((part) => Math.max(...part.map((slice) => slice[title]))),
  }));
  const rows = peaks.map(({ title, values: [, second, last] }) => ({
    title: `most memory of the ${title} in the last third of the time against the second`,
    values: [last / second],
    format: times,
    better: 'less',
    must: MAX_GROWTH,
  }));
  const lines = peaks.map(({ title, values }) => [title, ...values.map(megabytes)]);
  const rate = slices.reduce((sum, { perSecond }) => sum + perSecond, 0) / slices.length;
  const notes = [
    `${size.minutes} minutes of ${rate.toFixed(0)} creates/s over ${CONNECTIONS} connections, each with an Idempotency-Key.`,
  ];
  return { notes, rows, tables: [table(['Most memory', 'first third', 'second third', 'last third'], lines)] };
}
