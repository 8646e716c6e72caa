import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ROOT } from '../tools/checkout/root.mjs';
import { CREATES_PER_SECOND, duration, interleave, median, megabytes } from './figures.mjs';
import { Pool, startApi } from './limited-processes.mjs';
import { exampleBody } from './load/requests.mjs';
import { linePlot } from './plots.mjs';
import { table } from './report.mjs';

export const FULL = { rounds: 5, warmUpMs: 1000, ms: 7000, initialWarmUpMs: 8000 };
export const QUICK = { rounds: 1, warmUpMs: 1000, ms: 5000, initialWarmUpMs: 3000 };
/** The CPU limit of each worker: so low that two cores are enough for all of them, MongoDB, Redis, the API and the clients. */
const CORES = 0.03;
/** Below the default `BACKLOG_LIMIT`. Many, because the API needs a moment until the first of them are queued. */
const BURST_ITEMS = 4000;
/** Of the burst that gives the rate of one worker. */
const RATE_ITEMS = 1000;
const BURST_WORKERS = [2, 6];
const MAX_DEVIATION = 0.2;
/** For each worker, until V8 has compiled its code. With the limit, that would take longer than a burst. */
const WARM_UP_CREATES = 6000;
const WAITING_JOBS = 8000;
const POLL_INTERVAL_MS = 100;

const simulation = join(ROOT, 'dist', 'apps', 'cli', 'src', 'size-burst', 'simulate-burst.js');
const { drainSecondsByFormula, simulateBurst } = createRequire(import.meta.url)(simulation);

/**
 * Measures what an operator needs to size a deployment. Compares how long workers take for a burst with the formula and
 * the simulation of `npm run size-burst`, which know only the rate of one worker.
 * @param {import('./benchmark.mjs').Bench} bench
 * @returns {Promise<import('./report.mjs').Findings>}
 */
export async function measure(bench) {
  const { launcher, databases, meter, size } = bench;
  // All creates of a burst wait until they are stored.
  const env = { ...(await databases.environment('service')), DEMO_CATALOGUE: 'on', CREATE_WAIT_MS: '120000' };
  const service = await startApi(bench, env);
  const pool = new Pool(launcher, 'worker', env);
  const variants = variantsOf(size, service);
  await withWorkers(pool, service, { workers: 1 }, () =>
    meter.warmUp({ service }, { creates: { connections: 64, ms: size.initialWarmUpMs } }),
  );
  const bytes = await bytesPerJob(bench, service, pool);
  const results = await launcher.steps.run('rates and bursts', () =>
    interleave(Object.keys(variants), size.rounds, async (name) => {
      const { load, ...processes } = variants[name];
      const warmUp = { creates: { connections: 256, count: WARM_UP_CREATES * processes.workers } };
      return withWorkers(pool, service, processes, () => meter.measure(service, load), {
        warmUp: () => meter.measure(service, warmUp),
      });
    }),
  );
  const bursts = BURST_WORKERS.map((workers) => compareBurst(workers, results));
  const notes = [
    `${size.rounds} interleaved rounds of ${size.ms / 1000} s.`,
    `The workers of ${CORES} cores are limited once they have stored ${count(WARM_UP_CREATES)} items each. The other processes have no limit.`,
    `A burst is ${count(BURST_ITEMS)} creates at once, over as many connections.`,
  ];
  return {
    notes,
    rows: [...rateRows(results), bytesRow(bytes), ...memoryRows(results), ...bursts.flatMap(({ rows }) => rows)],
    tables: [
      table(
        ['Burst', 'By formula', 'Simulated', 'Measured'],
        bursts.map(({ line }) => line),
      ),
    ],
    plots: Object.fromEntries(bursts.map(({ workers, plot }) => [`burst-${workers}-workers`, plot])),
  };
}

function variantsOf({ warmUpMs, ms }, { itemId }) {
  const burst = (workers, items) => ({
    workers,
    isLimited: true,
    load: { creates: { connections: items, count: items } },
  });
  const reads = { operation: 'getById', inputs: [{ id: itemId }], connections: 64, warmUpMs, ms };
  return {
    one: burst(1, RATE_ITEMS),
    ...Object.fromEntries(BURST_WORKERS.map((workers) => [workers, burst(workers, BURST_ITEMS)])),
    unlimited: { workers: 1, load: { creates: { connections: 256, warmUpMs, ms } } },
    reads: { workers: 0, load: { reads } },
  };
}

/** Starts workers, warms them up, limits them if wanted, and stops them after `work`. */
async function withWorkers(pool, service, { workers, isLimited }, work, { warmUp } = {}) {
  await pool.start(workers, service);
  try {
    if (workers > 0) await warmUp?.();
    if (isLimited) pool.limit(CORES);
    return await work();
  } finally {
    await pool.stop();
  }
}

/** Returns the bytes of Redis's memory that a job takes while it waits. No worker may be running. */
async function bytesPerJob({ databases, meter }, service, pool) {
  const usedMemory = async () => Number(/used_memory:(\d+)/.exec(await databases.redis.info('memory'))?.[1]);
  const countBefore = await service.countItems();
  const before = await usedMemory();
  const creates = { connections: 64, count: WAITING_JOBS, isAsync: true, expected: '202' };
  await meter.measure(service, { creates });
  const bytes = ((await usedMemory()) - before) / WAITING_JOBS;
  await withWorkers(pool, service, { workers: 1 }, async () => {
    while ((await service.countItems()) < countBefore + WAITING_JOBS) await delay(POLL_INTERVAL_MS);
  });
  return bytes;
}

function bytesRow(bytes) {
  const itemBytes = JSON.stringify(exampleBody()).length;
  const title = `memory of Redis per waiting job, with items of ${itemBytes} bytes`;
  return { title, values: [bytes], format: (value) => `${value.toFixed(0)} bytes`, better: 'less' };
}

/** Returns the rate at which a burst was stored. All its creates were due at once. */
function burstRate({ creates }) {
  return (creates.responses[200] * 1000) / creates.ms.max;
}

function rateRows(results) {
  const { format } = CREATES_PER_SECOND;
  const perCore = (title, variant, cpuMs) => {
    const values = results[variant].map((measured) => 1000 / cpuMs(measured));
    return { title, values, format, better: 'more', note: `${(1000 / median(values)).toFixed(2)} ms of CPU each` };
  };
  const perCreate = (process) => (measured) => measured.cpuMs[process] / measured.creates.responses[200];
  const perRead = ({ cpuMs, reads }) => cpuMs.api / reads.responses[200];
  const title = `creates/s of one worker of ${CORES} cores, which stores ${count(RATE_ITEMS)} creates at once`;
  return [
    { title, values: results.one.map(burstRate), format, better: 'more' },
    perCore('creates/s per core of workers, with their indexing', 'unlimited', perCreate('worker 1')),
    perCore('creates/s per core of APIs', 'unlimited', perCreate('api')),
    perCore('getById/s per core of APIs', 'reads', perRead),
  ];
}

function memoryRows(results) {
  const rows = { api: 'API', 'worker 1': 'worker' };
  return Object.entries(rows).map(([process, name]) => ({
    title: `most memory of the ${name}, at full load and in bursts`,
    values: ['unlimited', ...BURST_WORKERS].flatMap((variant) =>
      results[variant].map(({ peakMegabytes }) => peakMegabytes[process]),
    ),
    format: megabytes,
    better: 'less',
    isWorst: true,
  }));
}

/** Compares the bursts of all rounds with the formula and the simulation, each with the rate of its round. */
function compareBurst(workers, results) {
  const rounds = results[workers].map(({ creates }, round) => {
    const burst = { items: BURST_ITEMS, workers, workerRate: burstRate(results.one[round]) };
    return {
      creates,
      simulated: simulateBurst(burst),
      seconds: {
        'the formula': drainSecondsByFormula(burst),
        'the simulation': simulateBurst(burst).seconds,
        measured: creates.ms.max / 1000,
      },
    };
  });
  const title = `${count(BURST_ITEMS)} creates at once, ${workers} workers of ${CORES} cores`;
  const deviationRow = (model) => ({
    title: `${title}: deviation of the measured time from ${model}`,
    values: rounds.map(({ seconds }) => Math.abs(seconds.measured / seconds[model] - 1)),
    format: (value) => `${(value * 100).toFixed(0)} %`,
    better: 'less',
    must: MAX_DEVIATION,
  });
  const medians = ['the formula', 'the simulation', 'measured'].map((name) =>
    duration(1000 * median(rounds.map(({ seconds }) => seconds[name]))),
  );
  return {
    workers,
    rows: [deviationRow('the formula'), deviationRow('the simulation')],
    line: [title, ...medians],
    plot: burstPlot(`Items stored of ${title}`, rounds.at(-1)),
  };
}

function burstPlot(title, { creates, simulated, seconds }) {
  const origin = [0, 0];
  // The timeline begins while the connections are opened.
  const beganS = (creates.lastMs - creates.ms.max) / 1000;
  const measured = creates.timeline.map((total, tenth) => [(tenth + 1) / 10 - beganS, total]).filter(([s]) => s >= 0);
  const steps = simulated.timeline.flatMap(([s, total], batch, { [batch - 1]: before = origin }) => [
    [s, before[1]],
    [s, total],
  ]);
  return linePlot(title, {
    measured: [origin, ...measured],
    simulated: [origin, ...steps],
    'by formula': [origin, [seconds['the formula'], BURST_ITEMS]],
  });
}

function count(value) {
  return value.toLocaleString('en');
}
