import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SchemaRepository, type Database } from '@app/database';
import { Redis } from 'ioredis';
import {
  createMongodb,
  createRedis,
  removeDatabaseServers,
  startMongodb,
  startRedis,
} from '../support/database-servers.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { validInput } from '../support/items.js';
import { endProcesses, ServiceProcess } from '../support/processes.js';
import { describeIfInstalled } from '../support/programs.js';
import { Prometheus, prometheusPath } from '../support/prometheus.js';
import { createJob, openQueue } from '../support/queue.js';

const RULES = join(__dirname, '..', '..', 'deploy', 'prometheus', 'alerts.yml');
/** The longest `for` of the rules, and time to spare. */
const FIRES_WITHIN_MS = 450_000;
const READ_DELAY_MS = 1200;
const ALERTS = [...readFileSync(RULES, 'utf8').matchAll(/alert: (\w+)/g)].map(([, name]) => name).sort();
const describeWithPrometheus = describeIfInstalled('Prometheus', prometheusPath);
jest.setTimeout(600_000);

describeWithPrometheus('alerts (skipped unless Prometheus is installed: apt-get install prometheus)', () => {
  let env: NodeJS.ProcessEnv;
  let database: Database;
  let redis: Redis;
  let api: ServiceProcess;
  let worker: ServiceProcess;
  let prometheus: Prometheus;
  const load = new AbortController();

  beforeAll(async () => {
    const [mongod, redisServer] = [await createMongodb('--setParameter', 'enableTestCommands=1'), await createRedis()];
    await Promise.all([startMongodb(mongod), startRedis(redisServer)]);
    env = { ...freshEnvironment({ LOG_LEVEL: 'info', CREATE_WAIT_MS: '300', BACKLOG_LIMIT: '3' }) };
    env = { ...env, MONGODB_URI: mongod.url, REDIS_URL: redisServer.url };
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    redis = new Redis(redisServer.url);
    api = ServiceProcess.start('api', env);
    worker = ServiceProcess.start('worker', env);
    await Promise.all([api.waitForStatus('ready'), worker.waitForStatus('ready')]);
    prometheus = await Prometheus.start({ api: await api.adminUrl(), worker: await worker.adminUrl() }, RULES);
  });
  afterAll(async () => {
    load.abort();
    redis.disconnect();
    await endProcesses();
    await database.close();
    await removeDatabaseServers();
  });

  /** Repeats a request every 100 ms until the end of the test. */
  const repeat = async (request: () => Promise<unknown>): Promise<void> => {
    while (!load.signal.aborted) {
      await request().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };

  it('alerts do not fire while the service works', async () => {
    const client = await api.client();
    await eventually(async () => {
      await client.create(validInput());
      await client.getAll();
      expect(await prometheus.query('rate(item_listing_creates_total{outcome="stored"}[10s]) > 0')).not.toEqual([]);
    });
    expect(await prometheus.firingAlerts()).toEqual([]);
  });

  it('alerts fire for what they are named after', async () => {
    const client = await api.client();
    // ProcessRestarts: a worker that is killed three times.
    const { port } = new URL(await worker.adminUrl());
    for (let restarts = 0; restarts < 3; restarts += 1) {
      await worker.end('SIGKILL');
      worker = ServiceProcess.start('worker', { ...env, WORKER_PORT: port });
      await worker.waitForStatus('ready');
      const restarted = `changes(process_start_time_seconds{job=~".*worker"}[15m]) > ${String(restarts)}`;
      await eventually(async () => {
        expect(await prometheus.query(restarted)).not.toEqual([]);
      });
    }
    // CreatesFail: a job from which no item can be stored.
    const queue = openQueue(env);
    await queue.queue.add('create', { ...createJob(), item: null });
    await queue.close();
    // InvalidItems: a document that another service has written.
    await database.connection.collection('items').updateMany({}, { $set: { name: 7 } });
    // ServerErrors: MongoDB rejects a query.
    const admin = database.connection.getClient().db('admin');
    const badValue = { failCommands: ['find'], errorCode: 2 };
    await eventually(async () => {
      // The worker may send the query that fails.
      await admin.command({ configureFailPoint: 'failCommand', mode: { times: 1 }, data: badValue });
      expect((await client.call('getById', { id: 'f'.repeat(24) })).status).toBe(500);
    });
    await eventually(async () => {
      await client.getAll();
      const expected = ['CreatesFail', 'InvalidItems', 'ProcessRestarts', 'ServerErrors'];
      expect(await prometheus.firingAlerts()).toEqual(expected);
    }, FIRES_WITHIN_MS);
    // ProcessDown and NoWorker, and CreatesWait, CreatesUnknown, CreatesRefused and PartNotWorking: no worker takes jobs,
    // and the backlog is full.
    await worker.end('SIGTERM');
    void repeat(() => client.create(validInput()));
    // RedisFillsUp: it uses more than half of its memory, and less than the 70 % at which creates are refused for this.
    const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
    await redis.config('SET', 'maxmemory', Math.round(used * 1.6));
    // ReadsSlow: each query takes longer than a second.
    const data = { failCommands: ['find'], blockConnection: true, blockTimeMS: READ_DELAY_MS };
    await admin.command({ configureFailPoint: 'failCommand', mode: 'alwaysOn', data });
    void repeat(() => client.getAll());
    // Once the backlog is full, all creates are refused, and their outcome is no longer unknown.
    const fired = new Set<string>();
    const expectFired = (alerts: typeof ALERTS): Promise<void> =>
      eventually(async () => {
        for (const alert of await prometheus.firingAlerts()) fired.add(alert);
        expect([...fired].sort()).toEqual(alerts);
      }, FIRES_WITHIN_MS);
    await expectFired(ALERTS.filter((alert) => alert !== 'NoApi'));
    await api.end('SIGTERM');
    await expectFired(ALERTS);
  });
});
