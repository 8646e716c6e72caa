import { CREATES_PER_SECOND, ratio, READS_PER_SECOND } from './figures.mjs';
import { measureGroups } from './groups.mjs';
import { mapValues } from './meter.mjs';
import { figurePlot } from './plots.mjs';
import { startDemoApi, startPool } from './pool.mjs';

const CORES = 0.1;
const MUSTS = { 1: undefined, 2: 1.8, 4: 3.3, 8: 5.5 };
const COUNTS = Object.keys(MUSTS);
/**
 * Each process has as many clients as another, because both batch what is requested at the same time. With fewer than the
 * 128 jobs that a worker takes at a time, one of two workers could take them all.
 */
const CONNECTIONS_EACH = { creates: 128, reads: 32 };

/** Measures whether 2, 4 and 8 workers or APIs, each held to a tenth of a core, do that many times as much as one. */
export async function measure(bench) {
  const { warmUpMs, ms, initialWarmUpMs } = bench.size;
  const service = await startDemoApi(bench);
  await bench.meter.warmUp([service], { reads: { connections: 64, ms: initialWarmUpMs } });
  const group = (figure, kind, processes, load) => {
    let pool;
    return {
      variants: mapValues(MUSTS, (_, count) => ({
        subject: 'service',
        [load]: { connections: Number(count) * CONNECTIONS_EACH[load], warmUpMs, ms },
      })),
      before: async (count, subject) => {
        pool = await startPool(bench, subject, kind, Number(count));
        pool.limit(CORES);
      },
      after: () => pool.stop(),
      figures: COUNTS.slice(1).map((count) => {
        const more = ` with ${count} ${processes} of ${CORES} cores, against one`;
        return ratio(figure, more, [count, '1'], MUSTS[count], Number(count));
      }),
    };
  };
  const groups = {
    'creates/s with workers': group(CREATES_PER_SECOND, 'worker', 'workers', 'creates'),
    'getById/s with APIs': group(READS_PER_SECOND, 'api', 'APIs', 'reads'),
  };
  const { rows, results } = await measureGroups(bench, { service }, groups);
  const byCount = COUNTS.map((count) => [count, mapValues(results, (variants) => variants[count])]);
  const title = `Rate by the number of processes of ${CORES} cores`;
  const rate = { ...CREATES_PER_SECOND, title, of: ({ creates, reads }) => (creates ?? reads).perSecond };
  const { creates, reads } = CONNECTIONS_EACH;
  const notes = [
    `Each worker has ${creates} clients, and each API ${reads}.`,
    'MongoDB, Redis and the other process have no limit.',
  ];
  return { notes, rows, plots: { workers: figurePlot(rate, byCount) } };
}
