import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LOCAL, ROOT } from '../tools/checkout/root.mjs';
import { waitUntilReady } from '../tools/processes/child.mjs';
import { number } from './figures.mjs';
import { linePlot } from './plots.mjs';
import { freePort } from './processes.mjs';
import { compile, startSubjects } from './subjects.mjs';

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

/** Plots panels of the dashboard while the service gets a burst of creates, and while its worker is suspended. */
export async function measure(bench) {
  const ADMIN_PORT = await freePort();
  const { service } = await startSubjects(bench, [], [{ name: 'service', env: { ADMIN_PORT } }]);
  const prometheus = await startPrometheus(bench.launcher, { api: ADMIN_PORT, worker: service.env.WORKER_PORT });
  const start = Date.now() / 1000 + BEGIN_AFTER_S;
  const steady = { connections: 1000, rate: RATE, count: RATE * bench.size.steadyS };
  const create = (creates, steadyReads) => bench.meter.measure(service, { creates, steadyReads });
  await create(steady, BY_ID);
  await create(BURST, BY_ID);
  await create(steady, LISTS);
  await Promise.all([create(steady, BY_ID), suspend(service.pids.worker)]);
  const end = Date.now() / 1000;
  const plots = {};
  for (const { title, fieldConfig, targets } of prometheus.panels.filter(({ title }) => PANELS.includes(title))) {
    const lines = await linesOf(prometheus.url, targets, start, end);
    const file = `dashboard-${title.toLowerCase().replaceAll(/\W+/g, '-')}`;
    plots[file] = linePlot(`${title}${UNITS[fieldConfig.defaults.unit] ?? ''}`, lines);
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
  await compile(join(ROOT, 'test', 'support', 'monitoring.ts'), folder);
  const { default: monitoring } = await import(join(folder, 'monitoring.js'));
  const targets = Object.entries(ports).map(([name, port]) => [name, `http://127.0.0.1:${port}`]);
  const file = join(folder, monitoring.PROMETHEUS_CONFIG);
  writeFileSync(file, monitoring.prometheusConfig(Object.fromEntries(targets)));
  const port = await freePort();
  const child = launcher.start('Prometheus', 'prometheus', monitoring.prometheusArguments(port, folder));
  const url = `http://127.0.0.1:${port}`;
  await waitUntilReady(child, async () => (await fetch(`${url}/-/ready`)).ok);
  launcher.watch(child);
  return { url, panels: monitoring.readPanels(ROOT, RATE_INTERVAL) };
}

/** Returns the lines of a panel over a time in seconds. NaN, where there is no value, leaves a gap. */
async function linesOf(url, targets, start, end) {
  const lines = {};
  for (const { expr: query, legendFormat } of targets) {
    const range = `query=${encodeURIComponent(query)}&start=${start}&end=${end}&step=1`;
    const { data } = await (await fetch(`${url}/api/v1/query_range?${range}`)).json();
    for (const { metric, values } of data.result) {
      const points = values.map(([at, value]) => [at - start, Number(value)]);
      const label = legendFormat.replace(/\{\{(\w+)\}\}/g, (_, each) => metric[each] ?? '');
      // Most panels have many lines that stay at zero.
      if (points.some(([, value]) => value)) lines[label] = points;
    }
  }
  return lines;
}
