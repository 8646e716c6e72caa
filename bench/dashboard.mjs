import { setTimeout as delay } from 'node:timers/promises';
import { anyFreePort } from '../tools/processes/ports.mjs';
import { runCli, serviceArguments } from '../tools/start/services.mjs';
import { linePlot } from './plots.mjs';
import { Prometheus } from './prometheus.mjs';
import { call, hasUnindexed, startChild, startSubject } from './subjects.mjs';

export const FULL = { steadyS: 35 };
export const QUICK = { steadyS: 10 };
const PANELS = [
  'Requests',
  'Request duration, p99',
  'Creates by outcome',
  'Jobs in the queue',
  'Age of the oldest waiting job',
  'Jobs in a batch',
  'Response time of stores',
  'Event loop lag, p99',
];
/** How long it takes until there are rates. */
const BEGIN_AFTER_S = 8;
const RATE = 150;
const STEADY_READS = { rate: 200 };
const BURST = { connections: 1000, rate: 4000, count: 10_000 };
const PAGE_EVERY_MS = 25;
/** Less than a create waits. */
const AWAY_S = 6;

/**
 * Plots panels of the dashboard, while the service gets a burst of creates, and has no worker for a while.
 * @param {import('./benchmark.mjs').Bench} bench
 * @returns {Promise<import('./report.mjs').Findings>}
 */
export async function measure(bench) {
  const { launcher, databases } = bench;
  const env = { ...(await databases.environment('service')), DEMO_CATALOGUE: 'on', ADMIN_PORT: await anyFreePort() };
  for (const command of ['setup', 'demo']) await runCli(launcher, command, env);
  const api = await startSubject(launcher, 'service', env, { processes: ['api'] });
  const worker = new RestartedWorker(launcher, env);
  await worker.start();
  const targets = { api: `http://127.0.0.1:${env.ADMIN_PORT}`, worker: `http://127.0.0.1:${env.WORKER_PORT}` };
  const prometheus = await Prometheus.start(launcher, targets);

  const from = seconds() + BEGIN_AFTER_S;
  const reading = new AbortController();
  const loading = load(bench, api, worker).finally(() => reading.abort());
  await Promise.all([loading, readPages(api.port, reading.signal)]);
  const plots = await plot(prometheus, { from, to: seconds() });
  const notes = [
    `${RATE} creates/s, ${STEADY_READS.rate} getById/s and up to ${1000 / PAGE_EVERY_MS} getAll/s, with a burst of ${BURST.count.toLocaleString('en')} creates, and later ${AWAY_S} s without a worker.`,
  ];
  return { notes, rows: [], plots };
}

async function load({ databases, meter, size: { steadyS } }, api, worker) {
  const db = databases.db('service');
  const [{ id: itemId }] = await call(api.port, 'getAll', { pageSize: 1 });
  const countItems = () => db.collection('items').countDocuments();
  const service = { ...api, itemId, countItems, hasUnindexed: () => hasUnindexed(db) };
  const create = (creates) => meter.measure(service, { creates, steadyReads: STEADY_READS });
  const steady = (forS) => ({ connections: BURST.connections, rate: RATE, count: RATE * forS });
  await create(steady(steadyS));
  await create(BURST);
  await create(steady(steadyS));
  await Promise.all([create(steady(steadyS + AWAY_S)), worker.restart()]);
}

async function plot(prometheus, time) {
  const plots = {};
  for (const name of PANELS) {
    const { title, lines } = await prometheus.read(name, time);
    plots[`dashboard-${name.toLowerCase().replaceAll(/\W+/g, '-')}`] = linePlot(title, lines);
  }
  return plots;
}

/** The only worker, which is down for {@link AWAY_S} while it is restarted. */
class RestartedWorker {
  #start;
  #child;

  constructor(launcher, env) {
    this.#start = () => startChild(launcher, 'worker', serviceArguments('worker'), Number(env.WORKER_PORT), env);
  }

  async start() {
    this.#child = await this.#start();
  }

  async restart() {
    await delay(AWAY_S * 1000);
    process.kill(this.#child.pid, 'SIGTERM');
    await this.#child.exited;
    await delay(AWAY_S * 1000);
    await this.start();
  }
}

async function readPages(port, signal) {
  while (!signal.aborted) {
    await call(port, 'getAll', { pageSize: 20 });
    await delay(PAGE_EVERY_MS);
  }
}

function seconds() {
  return Date.now() / 1000;
}
