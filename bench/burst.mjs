import { interleave, median } from './rounds.mjs';
import { duration, slower, TIMES } from './rows.mjs';

const BURST = { connections: 200, rate: 3000, count: 3000 };
const READS_PER_SECOND = 100;
/** The service's `CREATE_WAIT_MS`, or its default, in seconds. */
const WAIT_S = Number(process.env.CREATE_WAIT_MS || 10_000) / 1000;

/**
 * Measures a burst of uploads: 3,000 creates in one second over 200 connections, with steady reads alongside.
 * @param {import('./create-groups.mjs').Bench} bench
 * @returns {Promise<import('./rows.mjs').Row[]>}
 */
export async function burst({ meter, subjects, size }) {
  const results = await interleave(['service', 'direct'], size.bursts, async (name) => {
    const reads = { id: subjects[name].itemId, rate: READS_PER_SECOND };
    const idle = await meter.measure(subjects[name], { reads: { ...reads, ms: size.idleMs } });
    return { idle, ...(await meter.measure(subjects[name], { burst: BURST, reads })) };
  });
  const rows = [...guarantees(results.service), ...comparisons(results), ...memory(results.service)];
  return rows.map((row) => ({ ...row, figure: `3,000 creates in 1 s over 200 connections: ${row.figure}` }));
}

/** Returns the rows that must hold in every burst: the worst one counts. */
function guarantees(rounds) {
  const row = (figure, of, targets) => ({ figure, values: rounds.map(of), worst: true, ...targets });
  return [
    row('200 responses', shareCreated, { better: 'more', must: 95, aim: 100, unit: ' %', digits: 1 }),
    row('neither 200 nor 503', countOthers, { better: 'less', must: 0, aim: 0 }),
    row('longest wait', ({ creates }) => creates.ms.max / 1000, {
      better: 'less',
      must: WAIT_S + 1,
      unit: ' s',
      digits: 1,
    }),
    row('last response', ({ creates }) => creates.lastMs / 1000, { better: 'less', aim: 3, unit: ' s', digits: 1 }),
  ];
}

function comparisons(results) {
  const { service, direct } = results;
  const readRatio = ({ idle, reads }) => reads.ms.p99 / idle.reads.ms.p99;
  const targets = { figure: 'last response against (a)', must: 0.5, aim: 0.25 };
  return [
    slower(results, ({ creates }) => creates.lastMs, targets),
    {
      figure: 'p99 of getById against idle',
      better: 'less',
      must: 10,
      aim: 3,
      ...TIMES,
      values: service.map(readRatio),
      note: `${fromTo(service)}; (a): ${median(direct.map(readRatio)).toFixed(0)} ×, ${fromTo(direct)}`,
    },
  ];
}

function memory(rounds) {
  return ['api', 'worker'].map((name) => ({
    figure: `most memory of the ${name === 'api' ? 'API' : name}`,
    better: 'less',
    must: 300,
    aim: 180,
    unit: ' MB',
    worst: true,
    values: rounds.map(({ peakMegabytes }) => peakMegabytes[name]),
  }));
}

function shareCreated({ creates: { responses } }) {
  return ((responses[200] ?? 0) / BURST.count) * 100;
}

function countOthers({ creates: { responses } }) {
  return BURST.count - (responses[200] ?? 0) - (responses[503] ?? 0);
}

function fromTo(rounds) {
  const [before, during] = [rounds.map(({ idle }) => idle.reads.ms.p99), rounds.map(({ reads }) => reads.ms.p99)];
  return `${duration(median(before))} to ${duration(median(during))}`;
}
