import { initiateReplicaSet, SchemaRepository } from '@app/database';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { validInput } from '../support/items.js';
import {
  createMongodb,
  createRedis,
  startRedis,
  removeDatabaseServers,
  type DatabaseServer,
} from '../support/database-servers.js';
import { endProcesses, ServiceProcess } from '../support/processes.js';

describe('stores that are unavailable at boot', () => {
  let mongod: DatabaseServer;
  let redis: DatabaseServer;
  let api: ServiceProcess;
  let worker: ServiceProcess;

  beforeAll(async () => {
    [mongod, redis] = await Promise.all([createMongodb(), createRedis()]);
    const env = { ...freshEnvironment(), MONGODB_URI: mongod.url, REDIS_URL: redis.url, LOG_LEVEL: 'info' };
    [api, worker] = [ServiceProcess.start('api', env), ServiceProcess.start('worker', env)];
  });
  afterAll(async () => {
    await removeDatabaseServers();
    await endProcesses();
  });

  it('stores that are unavailable at boot are waited for, with a log line every few seconds, and used once they are available', async () => {
    const client = await api.client();
    for (const process of [api, worker]) {
      expect((await (await process.client()).request('/health/live', {})).status).toBe(200);
      expect(await process.ready()).toMatchObject({ httpStatus: 503, status: 'not ready' });
    }
    expect((await client.callOnce('getAll', {})).status).toBe(503);
    expect((await client.callOnce('create', validInput())).status).toBe(503);
    for (const process of [api, worker]) {
      for (const store of ['MongoDB', 'Redis']) {
        const times = await eventually(() => {
          const lines = process.log.filter(({ msg }) => msg.startsWith(`${store} is unavailable, trying again`));
          expect(lines.length).toBeGreaterThan(1);
          return lines.map(({ time }) => Number(time));
        });
        expect(Math.min(...times.slice(1).map((time, index) => time - (times[index] ?? 0)))).toBeGreaterThan(3500);
      }
    }

    mongod.start();
    for (const process of [api, worker]) {
      await eventually(async () => {
        expect((await process.ready()).parts['mongodb']).toMatch(/^no replica set yet: .*--init-replica-set/);
      });
    }
    expect((await client.callOnce('getAll', {})).status).toBe(503);
    const reason = expect.stringMatching(/^no replica set yet/) as string;
    await eventually(() => {
      expect(api.log).toContainEqual(expect.objectContaining({ msg: 'MongoDB is unavailable', reason }));
    });
    await initiateReplicaSet({ set: 'rs0', host: `127.0.0.1:${String(mongod.port)}` });
    await startRedis(redis);
    const database = await openDatabase({ MONGODB_URI: mongod.url });
    await new SchemaRepository(database).createIndexes();
    await database.close();
    await Promise.all([api.waitForStatus('ready'), worker.waitForStatus('ready')]);
    const { id } = await client.create(validInput());
    expect((await client.call('getById', { id })).status).toBe(200);
  });
});
