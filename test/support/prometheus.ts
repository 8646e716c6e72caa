import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseServer } from './database-servers.js';
import { eventually } from './eventually.js';
import { PROMETHEUS_CONFIG, prometheusArguments, prometheusConfig } from './monitoring.js';
import { findProgram } from './programs.js';

/** A value of a time series, as text: a number or `NaN`. */
export interface Sample {
  metric: Record<string, string>;
  value: [seconds: number, value: string];
}

/** The path of an installed Prometheus, or undefined. */
export const prometheusPath = findProgram('prometheus');

/** A Prometheus server that scrapes processes of this test. `removeDatabaseServers` ends it. */
export class Prometheus {
  private constructor(private readonly url: string) {}

  /**
   * Starts Prometheus, and waits until it responds.
   *
   * @param targets URLs of the endpoints for operators
   * @param rules path of a file of alerting rules
   */
  static async start(targets: Record<'api' | 'worker', string>, rules?: string): Promise<Prometheus> {
    const server = await DatabaseServer.create((port, folder) => ({
      url: `http://127.0.0.1:${String(port)}`,
      command: ['prometheus', ...prometheusArguments(port, folder)],
    }));
    await writeFile(join(server.folder, PROMETHEUS_CONFIG), prometheusConfig(targets, rules));
    server.start();
    const prometheus = new Prometheus(server.url);
    await eventually(() => prometheus.query('vector(1)'));
    return prometheus;
  }

  /** Returns the samples of a PromQL expression, now. @throws if it is not valid */
  async query(expression: string): Promise<Sample[]> {
    const { result } = await this.get<{ result: Sample[] }>(`query?query=${encodeURIComponent(expression)}`);
    return result;
  }

  /** Returns the names of the alerts that fire. */
  async firingAlerts(): Promise<string[]> {
    const { alerts } = await this.get<{ alerts: { state: string; labels: { alertname: string } }[] }>('alerts');
    return [...new Set(alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname))].sort();
  }

  private async get<Data>(path: string): Promise<Data> {
    const response = await fetch(`${this.url}/api/v1/${path}`);
    const { data, error } = (await response.json()) as { data: Data; error?: string };
    if (error !== undefined) throw new Error(error);
    return data;
  }
}
