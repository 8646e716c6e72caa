import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { CPU_PER_CREATE, CPU_PER_READ, CREATES_PER_SECOND, ratio, READS_PER_SECOND } from './figures.mjs';
import { measureGroups, sameLoad } from './groups.mjs';
import { startSubjects } from './subjects.mjs';

const WITHOUT_METRICS = fileURLToPath(new URL('./without-metrics.cjs', import.meta.url));

const AGAINST_NEITHER = ', with the default log and metrics, against neither';

/**
 * Measures what logs, metrics and traces cost, against a service that logs warnings only. Traces are sent to a receiver
 * that discards them.
 */
export async function measure(bench) {
  const { warmUpMs, ms, initialWarmUpMs } = bench.size;
  const receiver = createServer((request, response) => request.resume().once('end', () => response.end())).listen(0);
  await once(receiver, 'listening');
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${receiver.address().port}` };
  const logged = { LOG_LEVEL: 'info' };
  const variants = [
    { name: 'logging', title: 'the default log', env: logged, targets: [0.97, 1] },
    { name: 'access', title: '`LOG_ACCESS=on`', env: { ...logged, LOG_ACCESS: 'on' } },
    { name: 'tracing', title: 'tracing', env: traced, targets: [0.85, 0.95] },
    {
      name: 'always',
      title: 'tracing of every request',
      env: { ...traced, OTEL_TRACES_SAMPLER: 'parentbased_always_on' },
    },
  ];
  const bare = { name: 'bare', env: { NODE_OPTIONS: `--require ${WITHOUT_METRICS}` } };
  const subjects = await startSubjects(bench, ['service'], [...variants, bare]);
  await bench.meter.warmUp(Object.values(subjects), { reads: { connections: 32, ms: initialWarmUpMs } });
  await bench.meter.warmUp(Object.values(subjects), { creates: { connections: 64, ms: initialWarmUpMs } });
  const group = (rate, cpu, connections, kind) => ({
    variants: sameLoad(Object.keys(subjects), { [kind]: { connections, warmUpMs, ms } }),
    figures: [
      ...variants.map(({ name, title, targets = [] }) =>
        ratio(rate, `, ${connections} connections, with ${title}`, [name, 'service'], ...targets),
      ),
      ratio(rate, `, ${connections} connections${AGAINST_NEITHER}`, ['logging', 'bare'], 0.97, 1),
      // Varies less from round to round than the rate.
      ratio(cpu, AGAINST_NEITHER, ['logging', 'bare'], 1.03, 1),
    ],
  });
  const { rows } = await measureGroups(bench, subjects, {
    getById: group(READS_PER_SECOND, CPU_PER_READ, 32, 'reads'),
    creates: group(CREATES_PER_SECOND, CPU_PER_CREATE, 64, 'creates'),
  });
  receiver.closeAllConnections();
  receiver.close();
  return { rows };
}
