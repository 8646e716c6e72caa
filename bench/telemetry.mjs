import { once } from 'node:events';
import { createServer } from 'node:http';
import { CREATES_PER_SECOND, measureGroup, READS_PER_SECOND } from './figures.mjs';
import { startSubjects } from './subjects.mjs';

export const FULL = { rounds: 9, warmUpMs: 500, ms: 3000, initialWarmUpMs: 8000 };
export const QUICK = { rounds: 3, warmUpMs: 200, ms: 1500, initialWarmUpMs: 3000 };

const READS = { ...READS_PER_SECOND, title: 'getById/s, 32 connections' };
const CREATES = { ...CREATES_PER_SECOND, title: 'creates/s, 64 connections' };
/** What an operator may turn on, compared with a service that logs warnings only. */
const VARIANTS = [
  { name: 'logging', title: 'the default log', env: { LOG_LEVEL: 'info' }, must: 0.97, aim: 1 },
  { name: 'access', title: '`LOG_ACCESS=on`', env: { LOG_LEVEL: 'info', LOG_ACCESS: 'on' } },
  { name: 'tracing', title: 'tracing', env: {}, isTraced: true, must: 0.85, aim: 0.95 },
  {
    name: 'always',
    title: 'tracing of every request',
    env: { OTEL_TRACES_SAMPLER: 'parentbased_always_on' },
    isTraced: true,
  },
];

/**
 * Measures what logs and traces cost. Traces are sent to a receiver that discards them.
 * @param {import('./benchmark.mjs').Bench} bench
 * @returns {Promise<import('./report.mjs').Findings>}
 */
export async function measure(bench) {
  const { rounds, warmUpMs, ms, initialWarmUpMs } = bench.size;
  const receiver = createServer((request, response) => request.resume().once('end', () => response.end())).listen(0);
  await once(receiver, 'listening');
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${receiver.address().port}` };
  const variants = VARIANTS.map(({ env, isTraced, ...variant }) => ({
    ...variant,
    env: isTraced ? { ...env, ...endpoint } : env,
  }));
  const subjects = await startSubjects(bench, ['service'], variants);

  const loads = (kind, more) =>
    Object.fromEntries(
      Object.keys(subjects).map((name) => [name, { [kind]: { ...more(subjects[name]), warmUpMs, ms } }]),
    );
  const reads = ({ itemId }) => ({ operation: 'getById', inputs: [{ id: itemId }], connections: 32 });
  const creates = () => ({ connections: 64 });
  const rows = [];
  for (const [figure, kind, load] of [
    [READS, 'reads', reads],
    [CREATES, 'creates', creates],
  ]) {
    for (const subject of Object.values(subjects))
      await bench.meter.warmUp({ subject }, { [kind]: { ...load(subject), ms: initialWarmUpMs } });
    const figures = variants.map(({ name, title, must, aim }) => ({
      ...figure,
      title: `${figure.title}, with ${title}`,
      variant: name,
      against: 'service',
      must,
      aim,
    }));
    rows.push(...(await measureGroup(bench, subjects, figure.title, { variants: loads(kind, load), figures })).rows);
  }
  receiver.closeAllConnections();
  receiver.close();
  return { notes: [`${rounds} interleaved rounds of ${ms / 1000} s; a ratio is taken in each round.`], rows };
}
