import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SchemaRepository, type Database } from '@app/database';
import { removeDatabaseServers } from '../support/database-servers.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { validInput } from '../support/items.js';
import { readAnnotations, readPanels } from '../support/monitoring.js';
import { endProcesses, ServiceProcess } from '../support/processes.js';
import { describeIfInstalled } from '../support/programs.js';
import { Prometheus, prometheusPath } from '../support/prometheus.js';

const ROOT = join(__dirname, '..', '..');
const RATE_INTERVAL = '1m';
const panels = readPanels(ROOT, RATE_INTERVAL);
const queries = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const));
/** The part of a query that shows 0 even if no time series exists. */
const OR_ZERO = / or vector\(0\)$/;
const describeWithPrometheus = describeIfInstalled('Prometheus', prometheusPath);

describeWithPrometheus('the dashboard (skipped unless Prometheus is installed: apt-get install prometheus)', () => {
  let database: Database;
  let prometheus: Prometheus;

  beforeAll(async () => {
    const env = freshEnvironment({ LOG_LEVEL: 'info' });
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    const [api, worker] = [ServiceProcess.start('api', env), ServiceProcess.start('worker', env)];
    await Promise.all([api.waitForStatus('ready'), worker.waitForStatus('ready')]);
    prometheus = await Prometheus.start({ api: await api.adminUrl(), worker: await worker.adminUrl() });
    const client = await api.client();
    // Two scrapes with different values, from which rates are computed.
    await eventually(async () => {
      await client.getAll();
      const { id } = await client.create(validInput());
      await client.call('getById', { id });
      for (const counter of ['item_listing_batch_jobs_count', 'item_listing_creates_total']) {
        const increasing = await prometheus.query(`rate(${counter}[${RATE_INTERVAL}]) > 0`);
        if (increasing.length === 0) throw new Error(`${counter} has no rate yet`);
      }
    });
  });
  afterAll(async () => {
    await endProcesses();
    await removeDatabaseServers();
    await database.connection.dropDatabase();
    await database.close();
  });

  it.each(queries)('the dashboard shows data of a running service in "%s"', async (_title, expression) => {
    // A scrape may fail, and there is nothing to show until the next one.
    await eventually(async () => {
      const samples = await prometheus.query(expression.replace(OR_ZERO, ''));
      // An operation without requests has no quantile.
      expect(samples.filter(({ value }) => value[1] !== 'NaN')).not.toEqual([]);
    });
  });

  it('the dashboard has valid queries for its annotations', async () => {
    const annotations = readAnnotations(ROOT);
    expect(annotations).not.toEqual([]);
    for (const { expr } of annotations) await expect(prometheus.query(expr)).resolves.toEqual(expect.any(Array));
  });

  it('the dashboard reads from the data source that its user chooses, whatever its uid', () => {
    const uids = [...panels, ...readAnnotations(ROOT)].map(({ datasource: { uid } }) => uid);
    expect(new Set(uids)).toEqual(new Set(['${datasource}']));
  });

  it('the dashboard shows every metric of the service', () => {
    const documented = readFileSync(join(ROOT, 'docs', 'metrics.md'), 'utf8').match(/`item_listing_\w+`/g) ?? [];
    const names = [...new Set(documented.map((name) => name.replaceAll('`', '')))];
    expect(names.length).toBeGreaterThan(10);
    const shown = queries.map(([, expression]) => expression).join(' ');
    const hidden = names.filter((name) => !shown.includes(name));
    // The failed jobs in the queue are shown instead.
    expect(hidden).toEqual(['item_listing_jobs_failed_total']);
  });
});
