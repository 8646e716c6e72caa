import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A panel of the dashboard. */
export interface Panel {
  title: string;
  fieldConfig: { defaults: { unit: string } };
  datasource: { uid: string };
  targets: { expr: string; legendFormat: string }[];
}

interface Dashboard {
  panels: Panel[];
  annotations: { list: { name: string; datasource: { uid: string }; expr: string }[] };
}

/** Reads the panels of the dashboard. Its rates cover the last `rateInterval`. */
export function readPanels(root: string, rateInterval: string): Panel[] {
  return readDashboard(root, rateInterval).panels;
}

/** Reads what the dashboard marks in all panels. */
export function readAnnotations(root: string): Dashboard['annotations']['list'] {
  return readDashboard(root, '1m').annotations.list;
}

function readDashboard(root: string, rateInterval: string): Dashboard {
  const dashboard = readFileSync(join(root, 'deploy', 'grafana', 'dashboards', 'item-listing.json'), 'utf8');
  return JSON.parse(dashboard.replaceAll('$__rate_interval', rateInterval)) as Dashboard;
}

/** The file of {@link prometheusConfig} in the folder of Prometheus. */
export const PROMETHEUS_CONFIG = 'prometheus.json';

/** Returns the arguments of a Prometheus that keeps its data in a folder. */
export function prometheusArguments(port: number, folder: string): string[] {
  return [
    `--config.file=${join(folder, PROMETHEUS_CONFIG)}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${String(port)}`,
  ];
}

/**
 * Returns the configuration of a Prometheus that scrapes processes every second.
 *
 * @param targets URLs of the endpoints for operators
 * @param rules path of a file of alerting rules
 */
export function prometheusConfig(targets: Record<'api' | 'worker', string>, rules?: string): string {
  // JSON is YAML.
  return JSON.stringify({
    global: { scrape_interval: '1s', evaluation_interval: '5s' },
    rule_files: rules === undefined ? [] : [rules],
    scrape_configs: Object.entries(targets).map(([name, url]) => ({
      job_name: `item-listing-${name}`,
      static_configs: [{ targets: [new URL(url).host] }],
    })),
  });
}
