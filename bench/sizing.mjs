import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from '../tools/checkout/root.mjs';
import {
  CPU_PER_READ,
  cpuPerCreate,
  CREATES_PER_SECOND,
  milliseconds,
  number,
  peakMemory,
  ratio,
  rowOf,
} from './figures.mjs';
import { measureGroups } from './groups.mjs';
import { exampleBody } from './load/requests.mjs';
import { linePlot } from './plots.mjs';
import { startDemoApi, startPool } from './pool.mjs';

/**
 * Each worker is limited to the share of a core with which it stores about this many creates per second: so few that two
 * cores are enough for all workers, MongoDB, Redis, the API and the clients. Bursts then take as long on every machine.
 */
const WORKER_RATE = 100;
/** Below the default `BACKLOG_LIMIT`. Many, because the API needs a moment until the first of them are queued. */
const BURST_ITEMS = 4000;
/** Of the burst that gives the rate of one worker: as many as each of two workers stores of the other bursts. */
const RATE_ITEMS = 2000;
const BURST_WORKERS = [2, 6];
const MAX_DEVIATION = 0.2;
/** For each worker, until V8 has compiled its code. With the limit, that would take longer than a burst. */
const WARM_UP_CREATES = 16_000;
const WAITING_JOBS = 8000;

const simulation = join(ROOT, 'dist', 'apps', 'cli', 'src', 'size-burst', 'simulate-burst.js');
const { drainSecondsByFormula, simulateBurst } = createRequire(import.meta.url)(simulation);
const MODELS = { 'the formula': drainSecondsByFormula, 'the simulation': (burst) => simulateBurst(burst).seconds };

/**
 * Measures what an operator needs to size a deployment. Compares how long workers take for a burst with the formula and
 * the simulation of `npm run size-burst`, which know only the rate of one worker.
 */
export async function measure(bench) {
  const { meter, size } = bench;
  const service = await startDemoApi(bench);
  const first = await startPool(bench, service, 'worker', 1);
  await meter.warmUp([service], { creates: { connections: 64, ms: size.initialWarmUpMs } });
  const unlimited = await meter.measure(service, { creates: { connections: 256, count: WARM_UP_CREATES } });
  await first.stop();
  const cores = Number(((WORKER_RATE * cpuPerCreate('worker 1')(unlimited)) / 1000).toFixed(2));
  const bytesPerJob = await measureJobs(bench, service);
  const { rows, results } = await measureGroups(bench, { service }, { sizing: sizingGroup(bench, cores) });
  const burstTitle = (workers) => `${number(BURST_ITEMS)} creates at once, ${workers} workers of ${cores} cores`;
  const deviations = BURST_WORKERS.flatMap((workers) => deviationRows(burstTitle(workers), workers, results.sizing));
  const notes = [
    `The workers of ${cores} cores are limited once they have stored ${number(WARM_UP_CREATES)} items each. The other processes have no limit.`,
    `A burst is ${number(BURST_ITEMS)} creates at once, over as many connections.`,
  ];
  const plots = Object.fromEntries(
    BURST_WORKERS.map((workers) => [
      `burst-${workers}-workers`,
      burstPlot(`Items stored of ${burstTitle(workers)}`, workers, results.sizing),
    ]),
  );
  return { notes, rows: [...rows, bytesPerJob, ...memoryRows(results.sizing), ...deviations], plots };
}

/** Variants with as many workers as their names say, or with one of them unlimited, or without. */
function sizingGroup(bench, cores) {
  const { warmUpMs, ms } = bench.size;
  const burst = (items) => ({ subject: 'service', creates: { connections: items, count: items } });
  let pool;
  const perCore = (title, variant, cpuMs) => ({
    ...CREATES_PER_SECOND,
    title,
    variant,
    of: (measured) => 1000 / cpuMs(measured),
  });
  const rate = `creates/s of one worker of ${cores} cores, which stores ${number(RATE_ITEMS)} creates at once`;
  return {
    variants: {
      1: burst(RATE_ITEMS),
      ...Object.fromEntries(BURST_WORKERS.map((workers) => [workers, burst(BURST_ITEMS)])),
      unlimited: { subject: 'service', creates: { connections: 256, warmUpMs, ms } },
      reads: { subject: 'service', reads: { connections: 64, warmUpMs, ms } },
    },
    before: async (variant, service) => {
      const workers = { unlimited: 1, reads: 0 }[variant] ?? Number(variant);
      pool = await startPool(bench, service, 'worker', workers);
      if (workers === 0) return;
      await bench.meter.measure(service, { creates: { connections: 256, count: WARM_UP_CREATES * workers } });
      if (variant !== 'unlimited') pool.limit(cores);
    },
    after: () => pool.stop(),
    figures: [
      { ...CREATES_PER_SECOND, title: rate, variant: '1', of: burstRate },
      perCore('creates/s per core of workers, with their indexing', 'unlimited', cpuPerCreate('worker 1')),
      perCore('creates/s per core of APIs', 'unlimited', cpuPerCreate('api')),
      perCore('getById/s per core of APIs', 'reads', CPU_PER_READ.of),
    ],
  };
}

/** Returns the rate at which a burst was stored. All its creates were due at once. */
function burstRate({ creates }) {
  return (creates.responses[200] * 1000) / creates.ms.max;
}

/** Measures the bytes of Redis's memory that a job takes while it waits. No worker may be running. */
async function measureJobs(bench, service) {
  const usedMemory = async () => Number(/used_memory:(\d+)/.exec(await bench.databases.redis.info('memory'))?.[1]);
  const before = await usedMemory();
  const creates = { connections: 64, count: WAITING_JOBS, isAsync: true, expected: '202' };
  await bench.meter.measure(service, { creates });
  const bytes = ((await usedMemory()) - before) / WAITING_JOBS;
  const pool = await startPool(bench, service, 'worker', 1);
  await bench.meter.waitUntilIdle(service);
  await pool.stop();
  const title = `memory of Redis per waiting job, with items of ${JSON.stringify(exampleBody()).length} bytes`;
  return { title, values: [bytes], format: (value) => `${value.toFixed(0)} bytes`, better: 'less' };
}

function memoryRows(results) {
  const all = { service: ['unlimited', ...BURST_WORKERS].flatMap((variant) => results[variant]) };
  return [
    rowOf(peakMemory('most memory of the API, at full load and in bursts', 'api'), all),
    rowOf(peakMemory('most memory of the worker, at full load and in bursts', 'worker 1'), all),
  ];
}

/** Compares the bursts of all rounds with the formula and the simulation, each with the rate of its round. */
function deviationRows(title, workers, results) {
  const measured = results[workers].map(({ creates }) => creates.ms.max);
  const time = milliseconds(`${title}: deviation of the measured time from `, (ms) => ms);
  return Object.entries(MODELS).map(([name, secondsOf]) => {
    const predicted = results[1].map((one) => 1000 * secondsOf(burstOf(workers, one)));
    const row = rowOf(ratio(time, name, ['measured', 'predicted'], MAX_DEVIATION), { measured, predicted });
    const values = row.values.map((share) => Math.abs(share - 1));
    return { ...row, values, format: (value) => `${(value * 100).toFixed(0)} %` };
  });
}

/** Plots the burst of the last round, as measured, as simulated and by the formula. */
function burstPlot(title, workers, results) {
  const { timeline } = results[workers].at(-1).creates;
  const burst = burstOf(workers, results[1].at(-1));
  const origin = [0, 0];
  // Between two batches, nothing is stored.
  const steps = simulateBurst(burst).timeline.flatMap(([s, total], batch, { [batch - 1]: before = origin }) => [
    [s, before[1]],
    [s, total],
  ]);
  return linePlot(title, {
    measured: [origin, ...timeline],
    simulated: [origin, ...steps],
    'by formula': [origin, [drainSecondsByFormula(burst), BURST_ITEMS]],
  });
}

/** Returns the input of the formula and the simulation. They know only the rate of one worker, from another burst. */
function burstOf(workers, one) {
  return { items: BURST_ITEMS, workers, workerRate: burstRate(one) };
}
