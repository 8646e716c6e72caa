import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import getPort from 'get-port';
import { LOCAL, ROOT } from '../tools/checkout/root.mjs';
import { waitUntilReady } from '../tools/embedded/readiness.mjs';
import { compile } from './compile.mjs';
import { number } from './figures.mjs';
import { linePlot } from './plots.mjs';
import { startSubjects } from './subjects.mjs';

export const FULL = { steadyS: 35 };
export const QUICK = { steadyS: 10 };
const PANELS = ['Requests', 'Request duration, p99', 'Jobs in the queue', 'Age of the oldest waiting job'];
/** What follows the title of a panel, by its unit. */
const UNITS = { reqps: ', per second', s: ', in seconds' };
/** With a scrape every second, a rate needs a few of them. */
const RATE_INTERVAL = '5s';
/** How long it takes until there are rates. */
const BEGIN_AFTER_S = 8;
const RATE = 150;
const BY_ID = { rate: 200 };
const LISTS = { operation: 'getAll', inputs: [{ pageSize: 20 }], rate: 40 };
const BURST = { connections: 1000, rate: 4000, count: 10_000 };
/** Less than a create waits. */
const SUSPENDED_S = 6;

/**
 * Plots panels of the dashboard, while the service gets a burst of creates, and its worker is suspended for a while.
 * @param {import('./benchmark.mjs').Bench} bench
 * @returns {Promise<import('./report.mjs').Findings>}
 */
export async function measure(bench) {
  const { launcher, meter, size } = bench;
  const ADMIN_PORT = await getPort();
  const { service } = await startSubjects(bench, [], [{ name: 'service', env: { ADMIN_PORT } }]);
  const ports = { api: ADMIN_PORT, worker: service.env.WORKER_PORT };
  const prometheus = await startPrometheus(launcher, ports);
  const from = seconds() + BEGIN_AFTER_S;
  const create = (creates, steadyReads) => meter.measure(service, { creates, steadyReads });
  const steady = { connections: BURST.connections, rate: RATE, count: RATE * size.steadyS };
  await create(steady, BY_ID);
  await create(BURST, BY_ID);
  await create(steady, LISTS);
  await Promise.all([create(steady, BY_ID), suspend(service.pids.worker)]);
  const time = { from, to: seconds() };
  const plots = {};
  for (const name of PANELS) {
    const panel = prometheus.panels.find(({ title }) => title === name);
    const title = `${name}${UNITS[panel.fieldConfig.defaults.unit] ?? ''}`;
    const lines = await linesOf(prometheus.url, panel, time);
    plots[`dashboard-${name.toLowerCase().replaceAll(/\W+/g, '-')}`] = linePlot(title, lines);
  }
  const notes = [
    `${RATE} creates/s with ${BY_ID.rate} getById/s or ${LISTS.rate} getAll/s, a burst of ${number(BURST.count)} creates, and later ${SUSPENDED_S} s with a suspended worker.`,
  ];
  return { notes, rows: [], plots };
}

async function suspend(pid) {
  await delay(SUSPENDED_S * 500);
  process.kill(pid, 'SIGSTOP');
  await delay(SUSPENDED_S * 1000);
  process.kill(pid, 'SIGCONT');
}

/** Starts a Prometheus that scrapes the service. */
async function startPrometheus(launcher, ports) {
  const folder = launcher.temporaryFolder(LOCAL);
  const { default: monitoring } = await import(await compile(join(ROOT, 'test/support/monitoring.ts'), folder));
  const targets = Object.entries(ports).map(([name, port]) => [name, `http://127.0.0.1:${port}`]);
  const config = monitoring.prometheusConfig(Object.fromEntries(targets));
  writeFileSync(join(folder, monitoring.PROMETHEUS_CONFIG), config);
  const port = await getPort();
  const child = launcher.start('Prometheus', 'prometheus', monitoring.prometheusArguments(port, folder));
  const url = `http://127.0.0.1:${port}`;
  await waitUntilReady(child, async () => (await fetch(`${url}/-/ready`)).ok);
  launcher.watch(child);
  return { url, panels: monitoring.readPanels(ROOT, RATE_INTERVAL) };
}

/** Returns the lines of a panel over a time in seconds. */
async function linesOf(url, { targets }, { from, to }) {
  const lines = {};
  for (const { expr, legendFormat } of targets) {
    const query = `query=${encodeURIComponent(expr)}&start=${from}&end=${to}&step=1`;
    const { data } = await (await fetch(`${url}/api/v1/query_range?${query}`)).json();
    for (const { metric, values } of data.result) {
      // null instead of NaN leaves a gap in a line.
      const points = values.map(([at, value]) => [
        at - from,
        value === 'NaN' ? null : Number(Number(value).toPrecision(3)),
      ]);
      const label = legendFormat.replace(/\{\{(\w+)\}\}/g, (_, each) => metric[each] ?? '');
      // Most panels have many lines that stay at zero.
      if (points.some(([, value]) => value)) lines[label] = points;
    }
  }
  return lines;
}

function seconds() {
  return Date.now() / 1000;
}
