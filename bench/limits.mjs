import { measureGroup, READS_PER_SECOND } from './figures.mjs';
import { startSubjects } from './subjects.mjs';

export const FULL = { rounds: 9, warmUpMs: 500, ms: 3000, initialWarmUpMs: 8000 };
export const QUICK = { rounds: 5, warmUpMs: 200, ms: 1500, initialWarmUpMs: 3000 };

const CONNECTIONS = 32;
const READS = { ...READS_PER_SECOND, title: `getById/s, ${CONNECTIONS} connections` };
/** A limit that is never reached. */
const ONE = { RATE_LIMIT_GETBYID: '1000000000/60' };
const ALL = { ...ONE, RATE_LIMIT_BYTES: '100000000000/60', RATE_LIMIT_CONCURRENT: '1000' };
const VARIANTS = [
  { name: 'one', title: '`RATE_LIMIT_GETBYID`', env: ONE, must: 0.7, aim: 0.85 },
  { name: 'all', title: 'limits of requests, bytes and concurrency', env: ALL, must: 0.7, aim: 0.85 },
];

/**
 * Measures what rate limits cost: getById of one caller, with limits that are never reached, against none.
 * @param {import('./benchmark.mjs').Bench} bench
 * @returns {Promise<import('./report.mjs').Findings>}
 */
export async function measure(bench) {
  const { rounds, warmUpMs, ms, initialWarmUpMs } = bench.size;
  const subjects = await startSubjects(bench, ['service'], VARIANTS);
  const reads = ({ itemId }) => ({ operation: 'getById', inputs: [{ id: itemId }], connections: CONNECTIONS });
  const variants = {};
  for (const [name, subject] of Object.entries(subjects)) {
    variants[name] = { reads: { ...reads(subject), warmUpMs, ms } };
    await bench.meter.warmUp({ subject }, { reads: { ...reads(subject), ms: initialWarmUpMs } });
  }
  const figures = VARIANTS.map(({ name, title, must, aim }) => ({
    ...READS,
    title: `${READS.title}, with ${title}`,
    variant: name,
    against: 'service',
    must,
    aim,
  }));
  const { rows } = await measureGroup(bench, subjects, 'rounds', { variants, figures });
  return { notes: [`${rounds} interleaved rounds of ${ms / 1000} s; a ratio is taken in each round.`], rows };
}
