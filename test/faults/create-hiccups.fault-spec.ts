import { randomUUID } from 'node:crypto';
import type { ErrorBody, Item } from '@app/contracts';
import { SchemaRepository, type Database } from '@app/database';
import { ApiClient, type HttpResponse } from '../support/api-client.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { expectError } from '../support/errors.js';
import { eventually } from '../support/eventually.js';
import { uniqueWord, validInput } from '../support/items.js';
import {
  freePort,
  createMongodb,
  createRedis,
  startMongodb,
  startRedis,
  removeDatabaseServers,
  type DatabaseServer,
} from '../support/database-servers.js';
import { endProcesses, ServiceProcess } from '../support/processes.js';
import { profile } from '../support/profile.js';
import { openQueue, type OpenQueue } from '../support/queue.js';

/** Long enough for a busy machine. */
const CREATE_WAIT_MS = '30000';
const REPEATED_WITHIN_MS = 60_000;
/** Longer than the timeout of a Redis command. */
const REDIS_STOPPED_MS = 2500;
/** Long enough for the API to look up the jobs of waiting creates in Redis. */
const LOOKUP_MS = 3500;
const WAITERS = 40;
/** How many creates refer to a brand and a condition of their own that do not exist. */
const UNKNOWN_BRANDS = 60;
const DESCRIPTION = 'x'.repeat(50_000);

describe('a create', () => {
  let mongod: DatabaseServer;
  let redis: DatabaseServer;
  let database: Database;
  let jobs: OpenQueue;
  let env: NodeJS.ProcessEnv;
  let worker: ServiceProcess;
  let client: ApiClient;

  beforeAll(async () => {
    [mongod, redis] = await Promise.all([createMongodb(), createRedis()]);
    await Promise.all([startMongodb(mongod), startRedis(redis)]);
    env = freshEnvironment({ MONGODB_URI: mongod.url, REDIS_URL: redis.url, LOG_LEVEL: 'info', CREATE_WAIT_MS });
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    jobs = openQueue(env);
    const api = ServiceProcess.start('api', env);
    worker = ServiceProcess.start('worker', env);
    client = await api.client();
    await Promise.all([api.waitForStatus('ready'), worker.waitForStatus('ready')]);
  });
  afterEach(async () => {
    mongod.resume();
    redis.resume();
    worker.signal('SIGCONT');
    await eventually(() => client.create(validInput()));
  });
  afterAll(async () => {
    await Promise.all([database.close(), jobs.close()]);
    await removeDatabaseServers();
    await endProcesses();
  });

  const create = <Body = Item>(
    changes: object = {},
    headers: Record<string, string> = {},
  ): Promise<HttpResponse<Body>> => client.call('create', validInput(changes), headers);
  const createOnce = <Body = Item>(
    changes: object = {},
    headers: Record<string, string> = {},
  ): Promise<HttpResponse<Body>> => client.callOnce('create', validInput(changes), headers);

  const delay = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      setTimeout(resolve, ms);
    });

  it('a create succeeds once Redis is back if Redis has not confirmed its job', async () => {
    await eventually(async () => {
      expect((await createWhileRedisStops()).status).toBe(200);
    }, REPEATED_WITHIN_MS);
  });

  it('a create is accepted once Redis is back if Redis has not confirmed its job and the client does not wait', async () => {
    const id = await eventually(async () => {
      const { status, body } = await createWhileRedisStops({ Prefer: 'respond-async' });
      expect(status).toBe(202);
      return body.id;
    }, REPEATED_WITHIN_MS);
    await eventually(async () => {
      expect((await client.call('getById', { id })).status).toBe(200);
    });
  });

  it('a create with a used key and another body is refused while MongoDB does not respond', async () => {
    const key = randomUUID();
    const { body } = await create({}, { 'Idempotency-Key': key });
    await eventually(async () => {
      expect(await jobs.queue.getJobState(body.id)).toBe('unknown');
    });
    await mongod.pause();
    const headers = { 'Idempotency-Key': key, Prefer: 'respond-async' };
    expectError(await createOnce<ErrorBody>({ price: 2 }, headers), 503, 'SERVICE_UNAVAILABLE');
    mongod.resume();
    await eventually(async () => {
      expectError(await create<ErrorBody>({ price: 2 }, headers), 422, 'UNPROCESSABLE_CONTENT');
    });
  });

  it('a create is refused when its own wait is over while MongoDB does not respond, and is not queued', async () => {
    worker.signal('SIGSTOP');
    await mongod.pause();
    await eventually(async () => {
      const since = performance.now();
      const response = await createOnce<ErrorBody>({ categoryId: 'bikes' }, { Prefer: 'wait=1' });
      const waitedMs = performance.now() - since;
      expectError(response, 503, 'SERVICE_UNAVAILABLE');
      expect(waitedMs).toBeLessThan(1500);
    }, REPEATED_WITHIN_MS);
    expect(await jobs.queue.getWaitingCount()).toBe(0);
  });

  it('a create replaces an unreadable or failed job with the same key', async () => {
    await expectReplaced('{"version":1,');
    await expectReplaced(JSON.stringify({ id: 1 }));
    await expectReplaced('null');
    await expectReplaced('{"version":1,"requestHash":"x"}');
  });

  it('a create succeeds after a stall of the only worker that is shorter than its wait', async () => {
    // Lets the API measure the rate at which the queue drains.
    const createMany = async (): Promise<void> => {
      for (let count = 0; count < 10; count++) await create();
    };
    await Promise.all(Array.from({ length: 50 }, createMany));
    await eventually(async () => {
      worker.signal('SIGSTOP');
      const creates: Promise<HttpResponse<Item>>[] = [];
      for (let second = 0; second < 4; second++) {
        creates.push(createOnce());
        await delay(1000);
      }
      worker.signal('SIGCONT');
      expect((await Promise.all(creates)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    }, REPEATED_WITHIN_MS);
  });

  it('a create sends its body to Redis only once however long it waits', async () => {
    // Repeated, because a body is sent again if Redis does not confirm it in time.
    await eventually(async () => {
      worker.signal('SIGSTOP');
      const before = await bytesReceived();
      const creates = Array.from({ length: WAITERS }, () => create({ description: DESCRIPTION }));
      await delay(LOOKUP_MS);
      const bytes = (await bytesReceived()) - before;
      worker.signal('SIGCONT');
      for (const { status } of await Promise.all(creates)) expect(status).toBe(200);
      expect(bytes).toBeLessThan(1.5 * WAITERS * DESCRIPTION.length);
    }, REPEATED_WITHIN_MS);
  });

  it('a create is queued again if Redis loses the queue', async () => {
    worker.signal('SIGSTOP');
    const name = uniqueWord();
    const creating = create({ name });
    await eventually(async () => {
      expect(await jobs.queue.getWaitingCount()).toBe(1);
    });
    await jobs.redis.flushall();
    worker.signal('SIGCONT');
    expect((await creating).status).toBe(200);
    expect(await database.models.items.countDocuments({ name })).toBe(1);
  });

  it('a create with an unknown brand and condition shares their lookups with the rest of its batch', async () => {
    worker.signal('SIGSTOP');
    const name = uniqueWord();
    for (let n = 0; n < UNKNOWN_BRANDS; n++)
      await create({ name, brandId: 1e6 + n, conditionId: 1e6 + n }, { Prefer: 'respond-async' });
    const queries = await profile(database);
    worker.signal('SIGCONT');
    await eventually(async () => {
      expect(await database.models.items.countDocuments({ name })).toBe(UNKNOWN_BRANDS);
    });
    const collections = (await queries()).map(({ command }) => command.find);
    const lookups = collections.filter((collection) => collection === 'brands' || collection === 'conditions');
    expect(lookups.length).toBeGreaterThanOrEqual(2);
    expect(lookups.length).toBeLessThan(UNKNOWN_BRANDS / 4);
  });

  it('a create is not refused by an API that has just begun to listen', async () => {
    // Repeated, because an API listens after 2 s even if it has not connected by then.
    await eventually(async () => {
      const port = await freePort();
      const fresh = ServiceProcess.start('api', { ...env, PORT: String(port) });
      const { status } = await firstResponse(new ApiClient(`http://127.0.0.1:${String(port)}`));
      await fresh.end('SIGTERM');
      expect(status).toBe(200);
    }, REPEATED_WITHIN_MS);
  });

  /** Sends a create while Redis does not respond. It gets a 503 if the API had to check the queue again meanwhile. */
  async function createWhileRedisStops(headers: Record<string, string> = {}): Promise<HttpResponse<Item>> {
    // Makes the API check the queue, so that a create within 250 ms is sent without another check.
    await client.create(validInput());
    const paused = redis.pause();
    const creating = createOnce({}, headers);
    await paused;
    await delay(REDIS_STOPPED_MS);
    redis.resume();
    return creating;
  }

  async function expectReplaced(data: string): Promise<void> {
    const key = randomUUID();
    worker.signal('SIGSTOP');
    const { body: queued } = await create({}, { 'Idempotency-Key': key, Prefer: 'respond-async' });
    await jobs.redis.hset(jobs.queue.toKey(queued.id), 'data', data);
    const creating = create({ price: 2 }, { 'Idempotency-Key': key });
    await eventually(async () => {
      expect(await jobs.redis.hget(jobs.queue.toKey(queued.id), 'data')).toContain('"price":2');
    });
    worker.signal('SIGCONT');
    const { status, body } = await creating;
    expect([status, body.id, body.price]).toEqual([200, queued.id, 2]);
    // A job that has failed permanently is replaced too.
    const failed = { key: randomUUID(), id: '' };
    worker.signal('SIGSTOP');
    failed.id = (await create({}, { 'Idempotency-Key': failed.key, Prefer: 'respond-async' })).body.id;
    await jobs.redis.hset(jobs.queue.toKey(failed.id), 'data', data);
    worker.signal('SIGCONT');
    await eventually(async () => {
      expect(await jobs.queue.getJobState(failed.id)).toBe('failed');
    });
    expect((await create({ price: 3 }, { 'Idempotency-Key': failed.key })).body.price).toBe(3);
  }

  /** Retries until the API listens. */
  async function firstResponse(api: ApiClient): Promise<HttpResponse<Item>> {
    for (;;) {
      const response = await api.callOnce<Item>('create', validInput()).catch(() => undefined);
      if (response !== undefined) return response;
      await delay(5);
    }
  }

  async function bytesReceived(): Promise<number> {
    return Number(/total_net_input_bytes:(\d+)/.exec(await jobs.redis.info('stats'))?.[1]);
  }
});
