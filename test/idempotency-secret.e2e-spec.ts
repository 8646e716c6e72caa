import { createHash, randomUUID } from 'node:crypto';
import { SchemaRepository } from '@app/database';
import { freshEnvironment, openDatabase } from './support/environment.js';
import { expectError } from './support/errors.js';
import { eventually } from './support/eventually.js';
import { uniqueWord, validInput } from './support/items.js';
import { createMongodb, startMongodb, removeDatabaseServers } from './support/database-servers.js';
import { endProcesses, ServiceProcess } from './support/processes.js';
import { openQueue } from './support/queue.js';
import { startApi, startService, type Service } from './support/service.js';
import type { ApiClient } from './support/api-client.js';
import type { ErrorBody, Item } from '@app/contracts';

const KEY = 'order-1001';
const SECRET = 'a secret that two databases share';

const create = async (api: ApiClient, key: string): Promise<Item> =>
  (await api.call<Item>('create', validInput(), { 'Idempotency-Key': key })).body;

describe('the id of an item created with an Idempotency-Key', () => {
  const services: Service[] = [];
  const start = async (env: NodeJS.ProcessEnv = {}): Promise<Service> => {
    const service = await startService({ env });
    services.push(service);
    return service;
  };
  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.stop()));
    await removeDatabaseServers();
    await endProcesses();
  });

  it('the id of an item created with an Idempotency-Key cannot be computed from the key, and differs between databases', async () => {
    const ids = await Promise.all((await Promise.all([start(), start()])).map(({ api }) => create(api, KEY)));
    const guess = createHash('sha256')
      .update(JSON.stringify(['v1', 'anonymous', KEY]))
      .digest('hex');
    expect(ids[0]?.id).not.toBe(ids[1]?.id);
    expect(ids.map(({ id }) => id)).not.toContain(guess.slice(0, 24));
  });

  it('the id of an item created with an Idempotency-Key is the same on every instance, including one that starts later', async () => {
    const { api, env } = await start();
    const other = await startApi(env);
    const keys = Array.from({ length: 10 }, () => randomUUID());
    const made = await Promise.all(keys.flatMap((key) => [create(api, key), create(other.api, key)]));
    const later = await startApi(env);
    for (const [index, key] of keys.entries()) {
      const ids = [made[2 * index], made[2 * index + 1], await create(later.api, key)].map((item) => item?.id);
      expect(ids).toEqual([ids[0], ids[0], ids[0]]);
    }
    await Promise.all([other.stop(), later.stop()]);
  });

  it('the id of an item created with an Idempotency-Key is the same in two databases with the same secret', async () => {
    const both = await Promise.all([start({ IDEMPOTENCY_SECRET: SECRET }), start({ IDEMPOTENCY_SECRET: SECRET })]);
    const [one, other] = await Promise.all(both.map(({ api }) => create(api, KEY)));
    expect(other?.id).toBe(one?.id);
    expect(await both[0].database.models.secrets.countDocuments()).toBe(0);
  });

  it('the id for an Idempotency-Key is unknown while MongoDB is unavailable: a create with a key is refused, one without a key is accepted', async () => {
    const mongod = await createMongodb();
    await startMongodb(mongod);
    const env = freshEnvironment({ MONGODB_URI: mongod.url, LOG_LEVEL: 'trace' });
    const database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    const process = ServiceProcess.start('api', env);
    await process.waitForStatus('ready');
    const api = await process.client();
    const jobs = openQueue(env);

    await mongod.pause();
    const name = uniqueWord();
    const refused = await api.callOnce<ErrorBody>('create', validInput({ name }), { 'Idempotency-Key': KEY });
    expectError(refused, 503, 'SERVICE_UNAVAILABLE');
    expect(await jobs.queue.getJobCountByTypes('wait', 'active', 'delayed', 'completed')).toBe(0);
    expect((await api.call('create', validInput(), { Prefer: 'respond-async' })).status).toBe(202);
    mongod.resume();
    await eventually(async () => {
      const { status } = await api.call('create', validInput({ name }), {
        'Idempotency-Key': KEY,
        Prefer: 'respond-async',
      });
      expect(status).toBe(202);
    });
    const secret = await database.models.secrets.findOne().orFail().lean();
    expect(JSON.stringify(process.log)).not.toContain(secret.value);
    await Promise.all([jobs.close(), database.close()]);
  });
});
