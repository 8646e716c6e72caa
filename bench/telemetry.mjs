import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { CPU_PER_CREATE, CPU_PER_READ, ratio, rowOf } from './figures.mjs';
import { chosen } from './groups.mjs';
import { mapValues } from './meter.mjs';
import { startSubjects } from './subjects.mjs';

const WITHOUT_METRICS = fileURLToPath(new URL('./without-metrics.cjs', import.meta.url));
/** Several, because V8 optimizes the same code differently from process to process. */
const PAIRS_EACH = 3;
const LOADS = {
  reads: { connections: 32, figure: CPU_PER_READ },
  creates: { connections: 64, figure: CPU_PER_CREATE },
};

/**
 * Measures what logs, metrics and traces cost, against a service that logs warnings only. Traces are sent to a receiver
 * that discards them.
 *
 * Compares the CPU time of two services that are started and loaded at the same time. On a shared machine, the same
 * process may take half as long again a second later, which is much more than what is measured here.
 */
export async function measure(bench) {
  const receiver = createServer((request, response) => request.resume().once('end', () => response.end())).listen(0);
  await once(receiver, 'listening');
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${receiver.address().port}` };
  const logged = { LOG_LEVEL: 'info' };
  const comparisons = {
    logging: { title: 'with the default log', env: logged, targets: [1.03, 1] },
    access: { title: 'with `LOG_ACCESS=on`', env: { ...logged, LOG_ACCESS: 'on' } },
    tracing: { title: 'with tracing', env: traced, targets: [1.15, 1.05] },
    always: {
      title: 'with tracing of every request',
      env: { ...traced, OTEL_TRACES_SAMPLER: 'parentbased_always_on' },
    },
    metrics: {
      title: 'with the default log and metrics, against neither',
      env: logged,
      against: { NODE_OPTIONS: `--require ${WITHOUT_METRICS}` },
      targets: [1.03, 1],
    },
  };
  const rows = [];
  for (const [name, { title, env, against, targets = [] }] of Object.entries(chosen(comparisons, bench.options.only))) {
    const results = await bench.launcher.steps.run(title, () => compare(bench, name, env, against));
    for (const [kind, { figure }] of Object.entries(LOADS))
      rows.push(rowOf(ratio(figure, `, ${title}`, ['variant', 'base'], ...targets), results[kind]));
  }
  const { reads, creates } = LOADS;
  const notes = [
    'What is compared is measured at the same time.',
    `Each service has ${reads.connections} clients that read, or ${creates.connections} that create.`,
  ];
  return { notes, rows };
}

/** Returns what was measured in each round by kind of load: of services with one environment, and with the other. */
async function compare(bench, name, env, against) {
  const { rounds, initialWarmUpMs, warmUpMs, ms } = bench.size;
  const results = mapValues(LOADS, () => ({ variant: [], base: [] }));
  for (let number = 1; number <= PAIRS_EACH; number += 1) {
    const variants = [
      { name: `${name}-${number}`, env },
      { name: `${name}-${number}-base`, env: against },
    ];
    const pair = Object.values(await startSubjects(bench, [], variants));
    for (const [kind, { connections }] of Object.entries(LOADS)) {
      const run = (more) =>
        Promise.all(pair.map((subject) => bench.meter.measure(subject, { [kind]: { connections, ...more } })));
      await run({ ms: initialWarmUpMs });
      for (let round = number; round <= rounds; round += PAIRS_EACH) {
        const [variant, base] = await run({ warmUpMs, ms });
        results[kind].variant.push(variant);
        results[kind].base.push(base);
      }
    }
  }
  return results;
}
