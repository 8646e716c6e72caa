import { CREATES_PER_SECOND, measureGroup, median, READS_PER_SECOND } from './figures.mjs';
import { Pool, startApi } from './limited-processes.mjs';
import { barPlot } from './plots.mjs';
import { table } from './report.mjs';

export const FULL = { rounds: 5, warmUpMs: 3000, ms: 8000, initialWarmUpMs: 8000 };
export const QUICK = { rounds: 1, warmUpMs: 2000, ms: 4000, initialWarmUpMs: 3000 };
const CORES = 0.1;
const MUSTS = { 1: undefined, 2: 1.8, 4: 3.3, 8: 5.5 };
const COUNTS = Object.keys(MUSTS);

/**
 * Measures whether processes that are each held to a tenth of a core do as much as several times one: workers that store
 * creates, and APIs that read.
 * @param {import('./benchmark.mjs').Bench} bench
 * @returns {Promise<import('./report.mjs').Findings>}
 */
export async function measure(bench) {
  const { warmUpMs, ms, rounds, initialWarmUpMs } = bench.size;
  const env = { ...(await bench.databases.environment('service')), DEMO_CATALOGUE: 'on' };
  const service = await startApi(bench, env);
  const creates = { connections: 256 };
  const reads = { operation: 'getById', inputs: [{ id: service.itemId }], connections: 64 };
  await bench.meter.warmUp({ service }, { reads: { ...reads, ms: initialWarmUpMs } });

  const groups = [
    ['creates/s', 'workers', CREATES_PER_SECOND, { creates: { ...creates, warmUpMs, ms } }],
    ['getById/s', 'APIs', READS_PER_SECOND, { reads: { ...reads, warmUpMs, ms } }],
  ];
  const rows = [];
  const series = [];
  for (const [title, kind, figure, load] of groups) {
    const pool = new Pool(bench.launcher, kind === 'workers' ? 'worker' : 'api', env);
    const { rows: ofKind, results } = await measureGroup(bench, { service }, `${title} with ${kind}`, {
      variants: Object.fromEntries(COUNTS.map((count) => [count, { subject: 'service', ...load }])),
      before: async (count, subject) => {
        await pool.start(Number(count), subject);
        pool.limit(CORES);
      },
      after: () => pool.stop(),
      figures: COUNTS.slice(1).map((count) => ({
        ...figure,
        title: `${title} with ${count} ${kind} of ${CORES} cores, against one`,
        variant: count,
        against: '1',
        must: MUSTS[count],
        aim: Number(count),
      })),
    });
    rows.push(...ofKind);
    const values = COUNTS.map((count) => median(results[count].map(figure.of)));
    series.push({ name: `${title} with ${kind}`, values });
  }
  const notes = [`${rounds} interleaved rounds of ${ms / 1000} s. MongoDB, Redis and the other process have no limit.`];
  const lines = series.map(({ name, values }) => [name, ...values.map((value) => value.toFixed(0))]);
  const plot = { title: `Rate by the number of processes of ${CORES} cores`, groups: COUNTS, series };
  const workers = barPlot({ ...plot, format: CREATES_PER_SECOND.format });
  return { notes, rows, tables: [table(['', ...COUNTS], lines)], plots: { workers } };
}
