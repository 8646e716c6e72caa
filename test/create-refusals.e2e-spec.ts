import { join } from 'node:path';
import { SchemaRepository, type Database } from '@app/database';
import type { ApiClient } from './support/api-client.js';
import { removeDatabaseServers, startRedisCluster } from './support/database-servers.js';
import { freshEnvironment, openDatabase } from './support/environment.js';
import { expectError } from './support/errors.js';
import { eventually } from './support/eventually.js';
import { validInput } from './support/items.js';
import { median } from './support/median.js';
import { endProcesses, ServiceProcess } from './support/processes.js';
import { openQueue } from './support/queue.js';

const CLOCK_SET_BACK = join(__dirname, 'support', 'clock-set-back.cjs');
const ASYNC = { Prefer: 'respond-async' };
const REPORT_EVERY_MS = 5000;
const AT_ONCE_MS = 100;

describe('an API', () => {
  let database: Database;
  afterEach(async () => {
    await database.close();
    await endProcesses();
    await removeDatabaseServers();
  });

  async function start(more: NodeJS.ProcessEnv): Promise<{ env: NodeJS.ProcessEnv; api: ServiceProcess }> {
    const env = freshEnvironment({ LOG_LEVEL: 'info', ...more });
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    const api = ServiceProcess.start('api', env);
    await api.waitForStatus('ready');
    return { env, api };
  }

  async function fill(api: ServiceProcess, client: ApiClient): Promise<void> {
    await eventually(async () => {
      expectError(await client.callOnce('create', validInput(), ASYNC), 503, 'SERVICE_UNAVAILABLE');
      // Otherwise, there was too little time to queue it.
      expect((await api.ready()).parts['backlog']).toContain('full of jobs');
    });
  }

  it('an API refuses creates at once while the node of its Redis Cluster is down, and logs why at most every 5 s', async () => {
    const { url, nodes } = await startRedisCluster();
    const { api } = await start({ REDIS_URL: url });
    const client = await api.client();
    expect((await client.call('create', validInput(), ASYNC)).status).toBe(202);
    const firstLine = api.log.length;
    const downSince = performance.now();
    await nodes[0].kill();
    await api.waitForStatus('degraded');
    // Several times, and the median, because other tests run at the same time.
    await eventually(async () => {
      const durations: number[] = [];
      for (let n = 0; n < 20; n++) {
        const since = performance.now();
        expectError(await client.callOnce('create', validInput()), 503, 'SERVICE_UNAVAILABLE');
        durations.push(performance.now() - since);
      }
      expect(median(durations)).toBeLessThan(AT_ONCE_MS);
    });
    // No line is logged in the 5 s after another, such as one of a slow start on a busy machine.
    const reports = await eventually(() => {
      const lines = api.log.slice(firstLine).filter(({ msg }) => msg.startsWith('Redis is unavailable'));
      expect(lines.length).toBeGreaterThanOrEqual(1);
      return lines;
    });
    expect(reports.length).toBeLessThanOrEqual(1 + Math.floor((performance.now() - downSince) / REPORT_EVERY_MS));
  });

  it('an API accepts creates after a full queue has drained, even if its clock was set back', async () => {
    const { env, api } = await start({
      BACKLOG_LIMIT: '5',
      NODE_OPTIONS: `--require ${CLOCK_SET_BACK}`,
    });
    const client = await api.client();
    await fill(api, client);
    api.signal('SIGUSR2');
    await api.waitForLog('clock set back');
    await ServiceProcess.start('worker', env).waitForStatus('ready');
    await eventually(async () => {
      expect((await client.call('create', validInput())).status).toBe(200);
    });
  });

  it('an API does not refuse a create whose job is in the queue, although Redis reported an error', async () => {
    const { env, api } = await start({});
    const client = await api.client();
    const { queue, redis, close } = openQueue(env);
    await redis.set(queue.toKey('marker'), 'not a sorted set');
    const created = await client.call<{ data: { id: string } }>('create', validInput(), { Prefer: 'wait=3' });
    expect(created.status).toBe(504);
    expect(await queue.getJobState(created.body.data.id)).toBe('waiting');
    await close();
  });
});
