import { SchemaRepository, type Database } from '@app/database';
import type { HttpResponse, ApiClient } from '../support/api-client.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { uniqueWord, validInput } from '../support/items.js';
import {
  createMongodb,
  createRedis,
  startMongodb,
  startRedis,
  removeDatabaseServers,
  type DatabaseServer,
} from '../support/database-servers.js';
import { endProcesses, ServiceProcess, type ReadyReport } from '../support/processes.js';
import { openQueue, type OpenQueue } from '../support/queue.js';

/** The service promises a response within 2 s. A busy machine adds to the time of most attempts, but not of all. */
const PROMPTLY_MS = 2500;
const RECOVERY_MS = 10_000;
const REPEATED_WITHIN_MS = 60_000;
const CREATE_WAIT_MS = 2000;
const STOPPED_WITHIN_MS = 3000;

/** How many items may be stored after a response, by its status. */
const STORED_AFTER: Record<number, number[]> = { 200: [1], 503: [0], 504: [0, 1] };

const READS: [operation: string, input: object][] = [
  ['getAll', {}],
  ['getAll', { categoryId: 'a-slug' }],
  ['getById', { id: 'f'.repeat(24) }],
];

interface Timed {
  afterMs: number;
}

interface ErrorResponse {
  code: string;
  data?: { id: string; outcome: string };
}

describe('while a store is unavailable', () => {
  let mongod: DatabaseServer;
  let redis: DatabaseServer;
  let database: Database;
  let jobs: OpenQueue;
  let env: NodeJS.ProcessEnv;
  let api: ServiceProcess;
  let worker: ServiceProcess;
  let client: ApiClient;

  beforeAll(async () => {
    [mongod, redis] = await Promise.all([createMongodb(), createRedis()]);
    await Promise.all([startMongodb(mongod), startRedis(redis)]);
    env = { ...freshEnvironment(), MONGODB_URI: mongod.url, REDIS_URL: redis.url, LOG_LEVEL: 'info' };
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    jobs = openQueue(env);
    api = ServiceProcess.start('api', { ...env, CREATE_WAIT_MS: String(CREATE_WAIT_MS) });
    worker = ServiceProcess.start('worker', env);
    client = await api.client();
    await Promise.all([api.waitForStatus('ready', RECOVERY_MS), worker.waitForStatus('ready', RECOVERY_MS)]);
  });
  afterEach(async () => {
    for (const store of [mongod, redis]) bringBack(store);
    await Promise.all([api.waitForStatus('ready', RECOVERY_MS), worker.waitForStatus('ready', RECOVERY_MS)]);
  });
  afterAll(async () => {
    await Promise.all([database.close(), jobs.close()]);
    await removeDatabaseServers();
    await endProcesses();
  });

  async function timed(
    operation: string,
    input: object,
    headers: Record<string, string> = {},
  ): Promise<HttpResponse<ErrorResponse> & Timed> {
    const since = Date.now();
    const response = await client.callOnce<ErrorResponse>(operation, input, {
      'X-Request-Id': 'unavailable-1',
      ...headers,
    });
    return { ...response, afterMs: Date.now() - since };
  }

  async function takeDown(store: DatabaseServer, how: string): Promise<void> {
    if (how === 'killed') await store.kill();
    else await store.pause();
  }

  function bringBack(store: DatabaseServer): void {
    store.resume();
    if (!store.isRunning) store.start();
  }

  async function expectReport(process: ServiceProcess, report: ReadyReport): Promise<void> {
    await eventually(async () => {
      expect(await process.ready()).toEqual(report);
    });
  }

  async function expectCreated(name: string): Promise<void> {
    await eventually(async () => {
      expect(await database.models.items.countDocuments({ name })).toBe(1);
    }, RECOVERY_MS);
  }

  describe.each(['killed', 'stopped'])('(MongoDB %s)', (how) => {
    it('reads get a 503 in time, and work again once MongoDB is back', async () => {
      const expectRefused = async (): Promise<void> => {
        for (const { status, headers, body, afterMs } of await Promise.all(READS.map((read) => timed(...read)))) {
          expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'SERVICE_UNAVAILABLE', '1']);
          expect(afterMs).toBeLessThan(PROMPTLY_MS);
        }
      };
      // Repeated from the beginning, because only the first reads find out that MongoDB is unavailable.
      await eventually(async () => {
        bringBack(mongod);
        await client.getAll();
        await takeDown(mongod, how);
        await expectRefused();
      }, REPEATED_WITHIN_MS);
      await eventually(expectRefused);
      const logged = { msg: 'MongoDB is unavailable', requestId: 'unavailable-1' };
      await eventually(() => {
        expect(api.log).toContainEqual(expect.objectContaining(logged));
      });
      bringBack(mongod);
      await eventually(() => client.getAll(), RECOVERY_MS);
    });

    it('creates wait, and are stored once MongoDB is back', async () => {
      await takeDown(mongod, how);
      // A create that is not queued within its wait gets a 503.
      const { name, id } = await eventually(async () => {
        const name = uniqueWord();
        const { status, body } = await timed('create', validInput({ name }));
        expect([status, body.data?.outcome]).toEqual([504, 'unknown']);
        return { name, id: body.data?.id ?? '' };
      });
      bringBack(mongod);
      await expectCreated(name);
      expect(await jobs.queue.getFailedCount()).toBe(0);
      await eventually(async () => {
        expect(await jobs.queue.getJobState(id)).toBe('unknown');
      }, RECOVERY_MS);
    });

    it('the API stays in rotation while MongoDB is unavailable, and the worker leaves it', async () => {
      await takeDown(mongod, how);
      const ofApi = { mongodb: 'unavailable: reads are refused', redis: 'ok' };
      await expectReport(api, { httpStatus: 200, status: 'degraded', parts: ofApi });
      const ofWorker = { mongodb: 'unavailable', redis: 'ok', consumer: expect.any(String) as string };
      await expectReport(worker, { httpStatus: 503, status: 'not ready', parts: ofWorker });
    });
  });

  describe.each(['killed', 'stopped'])('(Redis %s)', (how) => {
    it.each([
      ['without a key', () => ({})],
      ['with a key', () => ({ 'Idempotency-Key': uniqueWord() })],
    ])(
      'creates %s get a response in time when Redis is unavailable, later ones a 503, and reads work as usual',
      async (_, headers) => {
        // Repeated from the beginning, because only the first create finds out that Redis is unavailable.
        await eventually(async () => {
          bringBack(redis);
          await client.create(validInput());
          await takeDown(redis, how);
          const { status, afterMs } = await timed('create', validInput(), headers());
          // A stopped Redis may still run a command that it was sent.
          expect([503, how === 'stopped' ? 504 : 503]).toContain(status);
          expect(afterMs).toBeLessThan(PROMPTLY_MS);
        }, REPEATED_WITHIN_MS);
        const names: string[] = [];
        await eventually(async () => {
          const name = uniqueWord();
          names.push(name);
          const later = await timed('create', validInput({ name }), headers());
          const { code } = later.body;
          expect([later.status, code, later.headers.get('retry-after')]).toEqual([503, 'SERVICE_UNAVAILABLE', '1']);
          expect(later.afterMs).toBeLessThan(500);
        });
        await client.getAll();
        bringBack(redis);
        await eventually(() => client.create(validInput()), RECOVERY_MS);
        expect(await database.models.items.countDocuments({ name: { $in: names } })).toBe(0);
      },
    );

    it('the API stays in rotation while Redis is unavailable, and the worker leaves it', async () => {
      await takeDown(redis, how);
      const ofApi = { mongodb: 'ok', redis: 'unavailable: creates are refused' };
      await expectReport(api, { httpStatus: 200, status: 'degraded', parts: ofApi });
      const ofWorker = { mongodb: 'ok', redis: 'unavailable', consumer: expect.any(String) as string };
      await expectReport(worker, { httpStatus: 503, status: 'not ready', parts: ofWorker });
    });

    it('processes that are told to stop while Redis is unavailable are not delayed', async () => {
      const processes = [ServiceProcess.start('api', env), ServiceProcess.start('worker', env)];
      await Promise.all(processes.map((process) => process.waitForStatus('ready')));
      await takeDown(redis, how);
      for (const { code, afterMs } of await Promise.all(processes.map((process) => process.end('SIGTERM')))) {
        expect(code).toBe(0);
        expect(afterMs).toBeLessThan(STOPPED_WITHIN_MS);
      }
    });

    it('creates that get a 200 store one item each, and creates that get a 503 store none', async () => {
      const create = async (): Promise<{ name: string; status: number }> => {
        const name = uniqueWord();
        return { name, status: (await timed('create', validInput({ name }))).status };
      };
      const before = Array.from({ length: 50 }, create);
      await Promise.race(before);
      await takeDown(redis, how);
      const after = Array.from({ length: 50 }, create);
      const responses = await Promise.all([...before, ...after]);
      bringBack(redis);
      await eventually(() => client.create(validInput()), RECOVERY_MS);
      await eventually(async () => {
        expect(await jobs.queue.getJobCountByTypes('wait', 'active', 'delayed')).toBe(0);
      }, RECOVERY_MS);
      for (const { name, status } of responses) {
        expect(STORED_AFTER[status]).toContain(await database.models.items.countDocuments({ name }));
      }
    });
  });
});
