import { SchemaRepository, type Database } from '@app/database';
import type { Answer, ApiClient } from './support/api-client.js';
import { eventually } from './support/eventually.js';
import { uniqueWord, validInput } from './support/items.js';
import {
  ownMongodb,
  ownRedis,
  readyMongodb,
  readyRedis,
  removeOwnDatabases,
  type OwnDatabase,
} from './support/own-databases.js';
import { endProcesses, ServiceProcess } from './support/processes.js';
import { openQueue, type OpenQueue } from './support/queue.js';
import { freshEnvironment, openDatabase } from './support/service.js';

/** The promise is 2 s; a busy machine adds something to what is measured from outside. */
const PROMPTLY_MS = 2500;
const AGAIN_WITHIN_MS = 10_000;
const CREATE_WAIT_MS = 2000;

/** How many items there may be after an answer. */
const STORED_AFTER: Record<number, number[]> = { 200: [1], 503: [0], 504: [0, 1] };

jest.setTimeout(60_000);

interface Timed {
  afterMs: number;
}

interface ErrorAnswer {
  code: string;
  data?: { id: string; outcome: string };
}

describe('stores that are away', () => {
  let mongod: OwnDatabase;
  let redis: OwnDatabase;
  let database: Database;
  let jobs: OpenQueue;
  let env: NodeJS.ProcessEnv;
  let api: ServiceProcess;
  let worker: ServiceProcess;
  let client: ApiClient;

  beforeAll(async () => {
    [mongod, redis] = await Promise.all([ownMongodb(), ownRedis()]);
    await Promise.all([readyMongodb(mongod), readyRedis(redis)]);
    env = { ...freshEnvironment(), MONGODB_URI: mongod.url, REDIS_URL: redis.url, LOG_LEVEL: 'info' };
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    jobs = openQueue(env);
    api = ServiceProcess.start('api', { ...env, CREATE_WAIT_MS: String(CREATE_WAIT_MS) });
    worker = ServiceProcess.start('worker', env);
    client = await api.client();
    await Promise.all([api.becomes('ready'), worker.becomes('ready')]);
  });
  afterEach(async () => {
    for (const store of [mongod, redis]) {
      store.resume();
      if (!store.isRunning) store.start();
    }
    await Promise.all([api.becomes('ready', AGAIN_WITHIN_MS), worker.becomes('ready', AGAIN_WITHIN_MS)]);
  });
  afterAll(async () => {
    await Promise.all([database.close(), jobs.close()]);
    await removeOwnDatabases();
    await endProcesses();
  });

  async function timed(
    operation: string,
    input: object,
    headers: Record<string, string> = {},
  ): Promise<Answer<ErrorAnswer> & Timed> {
    const since = Date.now();
    const answer = await client.call<ErrorAnswer>(operation, input, { 'X-Request-Id': 'away-1', ...headers });
    return { ...answer, afterMs: Date.now() - since };
  }

  async function expectCreated(name: string): Promise<void> {
    await eventually(async () => {
      expect(await database.models.items.countDocuments({ name })).toBe(1);
    }, AGAIN_WITHIN_MS);
  }

  describe.each(['killed', 'stopped'])('MongoDB %s', (how) => {
    const takeAway = async (): Promise<void> => {
      if (how === 'killed') await mongod.kill();
      else await mongod.pause();
    };
    const bringBack = (): void => {
      if (how === 'killed') mongod.start();
      else mongod.resume();
    };

    it('answers reads 503 in time, and as ever when it is back', async () => {
      await takeAway();
      const reads = [
        ['getAll', {}],
        ['getAll', { categoryId: 'a-slug' }],
        ['getById', { id: 'f'.repeat(24) }],
      ] as const;
      for (const [operation, input] of reads) {
        const { status, headers, body, afterMs } = await timed(operation, input);
        expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'SERVICE_UNAVAILABLE', '1']);
        expect(afterMs).toBeLessThan(PROMPTLY_MS);
      }
      expect(api.log).toContainEqual(expect.objectContaining({ msg: 'MongoDB is away', requestId: 'away-1' }));
      bringBack();
      await eventually(() => client.getAll(), AGAIN_WITHIN_MS);
    });

    it('lets creates wait, which are stored when it is back', async () => {
      await takeAway();
      const name = uniqueWord();
      const { status, body } = await timed('create', validInput({ name }));
      expect([status, body.data?.outcome]).toEqual([504, 'unknown']);
      bringBack();
      await expectCreated(name);
      expect(await jobs.queue.getFailedCount()).toBe(0);
      await eventually(async () => {
        expect(await jobs.queue.getJobState(body.data?.id ?? '')).toBe('unknown');
      }, AGAIN_WITHIN_MS);
    });

    it('stays in rotation, the worker leaves', async () => {
      await takeAway();
      const { httpStatus, parts } = await api.becomes('degraded');
      expect([httpStatus, parts]).toEqual([200, { mongodb: 'away: reads are refused', redis: 'ok' }]);
      const { httpStatus: ofWorker, parts: partsOfWorker } = await worker.becomes('not ready');
      expect([ofWorker, partsOfWorker['mongodb'], partsOfWorker['redis']]).toEqual([503, 'away', 'ok']);
    });
  });

  describe.each(['killed', 'stopped'])('Redis %s', (how) => {
    const takeAway = async (): Promise<void> => {
      if (how === 'killed') await redis.kill();
      else await redis.pause();
    };
    const bringBack = (): void => {
      if (how === 'killed') redis.start();
      else redis.resume();
    };

    it.each([
      ['without a key', () => ({})],
      ['with a key', () => ({ 'Idempotency-Key': uniqueWord() })],
    ])('answers creates %s in time, 503 for certain once it has noticed, and reads as ever', async (_, headers) => {
      await takeAway();
      const first = await timed('create', validInput(), headers());
      // Nobody can tell what a stopped Redis will do with a command that it was sent.
      expect([503, how === 'stopped' ? 504 : 503]).toContain(first.status);
      expect(first.afterMs).toBeLessThan(PROMPTLY_MS);
      const name = uniqueWord();
      const second = await timed('create', validInput({ name }), headers());
      const { code } = second.body;
      expect([second.status, code, second.headers.get('retry-after')]).toEqual([503, 'SERVICE_UNAVAILABLE', '1']);
      expect(second.afterMs).toBeLessThan(500);
      await client.getAll();
      bringBack();
      await eventually(() => client.create(validInput()), AGAIN_WITHIN_MS);
      expect(await database.models.items.countDocuments({ name })).toBe(0);
    });

    it('stays in rotation, the worker leaves', async () => {
      await takeAway();
      const { httpStatus, parts } = await api.becomes('degraded');
      expect([httpStatus, parts]).toEqual([200, { mongodb: 'ok', redis: 'away: creates are refused' }]);
      const { httpStatus: ofWorker, parts: partsOfWorker } = await worker.becomes('not ready');
      expect([ofWorker, partsOfWorker['mongodb'], partsOfWorker['redis']]).toEqual([503, 'ok', 'away']);
    });

    it('does not keep processes that are told to stop', async () => {
      const processes = [ServiceProcess.start('api', env), ServiceProcess.start('worker', env)];
      await Promise.all(processes.map((process) => process.becomes('ready')));
      await takeAway();
      for (const { code, afterMs } of await Promise.all(processes.map((process) => process.end('SIGTERM')))) {
        expect(code).toBe(0);
        expect(afterMs).toBeLessThan(3000);
      }
    });

    it('creates what it has answered 200, nothing that it has answered 503, and nothing twice', async () => {
      const create = async (): Promise<{ name: string; status: number }> => {
        const name = uniqueWord();
        return { name, status: (await timed('create', validInput({ name }))).status };
      };
      const before = Array.from({ length: 50 }, create);
      await Promise.race(before);
      await takeAway();
      const after = Array.from({ length: 50 }, create);
      const answers = await Promise.all([...before, ...after]);
      bringBack();
      await eventually(() => client.create(validInput()), AGAIN_WITHIN_MS);
      await eventually(async () => {
        expect(await jobs.queue.getJobCountByTypes('wait', 'active', 'delayed')).toBe(0);
      }, AGAIN_WITHIN_MS);
      for (const { name, status } of answers) {
        expect(STORED_AFTER[status]).toContain(await database.models.items.countDocuments({ name }));
      }
    });
  });
});
