import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOCAL, ROOT } from '../tools/checkout/root.mjs';
import { waitUntilReady } from '../tools/embedded/readiness.mjs';
import { anyFreePort } from '../tools/processes/ports.mjs';
import { StepError } from '../tools/steps.mjs';
import { compile } from './compile.mjs';

const STEP_S = 1;
/** With a scrape every second, a rate needs a few of them. */
const RATE_INTERVAL = '5s';
/** What follows the title of a panel, by its unit. */
const UNITS = { reqps: ', per second', s: ', in seconds' };

/** A Prometheus that scrapes the service, and plots the panels of the dashboard. */
export class Prometheus {
  #url;
  #panels;

  constructor(url, panels) {
    this.#url = url;
    this.#panels = panels;
  }

  /** @param {Record<'api' | 'worker', string>} targets URLs of the endpoints for operators */
  static async start(launcher, targets) {
    await launcher.run('prometheus', ['--version']).catch(() => {
      throw new StepError('prometheus is not on PATH', { hint: 'install Prometheus' });
    });
    const folder = launcher.temporaryFolder(LOCAL);
    const { default: monitoring } = await import(await compile(join(ROOT, 'test/support/monitoring.ts'), folder));
    writeFileSync(join(folder, monitoring.PROMETHEUS_CONFIG), monitoring.prometheusConfig(targets));
    const port = await anyFreePort();
    const child = launcher.start('Prometheus', 'prometheus', monitoring.prometheusArguments(port, folder));
    const prometheus = new Prometheus(`http://127.0.0.1:${port}`, monitoring.readPanels(ROOT, RATE_INTERVAL));
    await waitUntilReady(child, async () => (await fetch(`${prometheus.#url}/-/ready`)).ok);
    launcher.watch(child);
    return prometheus;
  }

  /**
   * Returns the lines of a panel over a time, and the title with the unit.
   * @param {{from: number, to: number}} time in seconds
   */
  async read(name, time) {
    const { title, fieldConfig, targets } = this.#panels.find((panel) => panel.title === name);
    const lines = {};
    for (const { expr, legendFormat } of targets)
      for (const { metric, values } of await this.#query(expr, time)) {
        const points = withGaps(values).map(([at, value]) => [at - time.from, toNumber(value)]);
        const label = legendFormat.replace(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? '');
        // Most panels have many lines that stay at zero.
        if (points.some(([, value]) => value)) lines[label] = points;
      }
    return { title: `${title}${UNITS[fieldConfig.defaults.unit] ?? ''}`, lines };
  }

  async #query(query, { from, to }) {
    const range = `start=${from}&end=${to}&step=${STEP_S}`;
    const response = await fetch(`${this.#url}/api/v1/query_range?${range}&query=${encodeURIComponent(query)}`);
    const { data, error } = await response.json();
    if (error !== undefined) throw new StepError(`Prometheus: ${error}`);
    return data.result;
  }
}

/** Ends a line where a process was down. */
function withGaps(values) {
  const isAfterGap = (index) => index > 0 && values[index][0] - values[index - 1][0] > STEP_S;
  return values.flatMap(([at, value], index) => [...(isAfterGap(index) ? [[at - STEP_S, 'NaN']] : []), [at, value]]);
}

/** Returns null instead of NaN, which leaves a gap in a line. */
function toNumber(value) {
  return value === 'NaN' ? null : Number(Number(value).toPrecision(3));
}
