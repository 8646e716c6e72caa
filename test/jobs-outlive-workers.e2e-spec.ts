import { SchemaRepository, type Database } from '@app/database';
import type { ApiClient, HttpResponse } from './support/api-client.js';
import { freshEnvironment, openDatabase } from './support/environment.js';
import { eventually } from './support/eventually.js';
import { uniqueWord, validInput } from './support/items.js';
import { createMongodb, startMongodb, removeDatabaseServers, type DatabaseServer } from './support/database-servers.js';
import { endProcesses, ServiceProcess } from './support/processes.js';
import { openQueue, type OpenQueue } from './support/queue.js';

/** Processes promise to stop within 9 s, because orchestrators kill them after 10 s. */
const STOPPED_WITHIN_MS = 9500;
/** How long a busy machine may take until a worker has started and has done the jobs of another one. */
const DONE_WITHIN_MS = 60_000;

/** Any response to a create. */
interface CreateResponse {
  id?: string;
  data?: { id: string };
}

describe('a worker', () => {
  let mongod: DatabaseServer;
  let env: NodeJS.ProcessEnv;
  let database: Database;
  let jobs: OpenQueue;
  let worker: ServiceProcess;
  let client: ApiClient;

  beforeAll(async () => {
    mongod = await createMongodb();
    await startMongodb(mongod);
    env = freshEnvironment({ MONGODB_URI: mongod.url, WORKER_CONCURRENCY: '20', LOG_LEVEL: 'info' });
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    jobs = openQueue(env);
    const api = ServiceProcess.start('api', env);
    await api.waitForStatus('ready');
    client = await api.client();
  });
  beforeEach(async () => {
    worker = ServiceProcess.start('worker', env);
    await worker.waitForStatus('ready');
  });
  afterEach(async () => {
    mongod.resume();
    await worker.end('SIGKILL');
  });
  afterAll(async () => {
    await Promise.all([database.close(), jobs.close()]);
    await removeDatabaseServers();
    await endProcesses();
  });

  it('a worker returns a job that it cannot finish to the queue 8 s after SIGTERM, and the next worker does it', async () => {
    await mongod.pause();
    const creating = client.call<CreateResponse>('create', validInput());
    const [job] = await eventually(async () => {
      const active = await jobs.queue.getActive();
      expect(active).toHaveLength(1);
      return active;
    });
    const id = job?.id ?? '';
    expect(await worker.end('SIGTERM')).toMatchObject({ code: 0 });
    expect(worker.stoppedAfterMs).toBeGreaterThan(7000);
    expect(worker.stoppedAfterMs).toBeLessThan(STOPPED_WITHIN_MS);
    expect(await jobs.queue.getJobState(id)).toBe('waiting');
    expect((await jobs.queue.getJob(id))?.attemptsMade).toBe(0);

    mongod.resume();
    worker = ServiceProcess.start('worker', env);
    await eventually(async () => {
      expect((await client.call('getById', { id })).status).toBe(200);
    }, DONE_WITHIN_MS);
    expect([200, 504]).toContain((await creating).status);
  });

  it('a worker uses up no attempt of a job while MongoDB blocks writes, and stores its item afterwards', async () => {
    const blockWrites = (global: boolean): Promise<unknown> =>
      database.connection.getClient().db('admin').command({ setUserWriteBlockMode: 1, global });
    await blockWrites(true);
    const { body } = await client.call<CreateResponse>('create', validInput(), { Prefer: 'respond-async' });
    const { reason } = await worker.waitForLog('taking no jobs');
    expect(reason).toMatch(/^MongoDB refuses writes: /);
    expect((await jobs.queue.getJob(body.id ?? ''))?.attemptsMade).toBe(0);
    await blockWrites(false);
    await eventually(async () => {
      expect((await client.call('getById', { id: body.id })).status).toBe(200);
    });
  });

  it('a worker killed with -9 during creates leaves them to the next worker, which stores each exactly once', async () => {
    const name = uniqueWord();
    let isEnough = false;
    const creating = Array.from({ length: 50 }, async () => {
      const responses: HttpResponse<CreateResponse>[] = [];
      while (!isEnough) responses.push(await client.call<CreateResponse>('create', validInput({ name })));
      return responses;
    });
    try {
      await eventually(async () => {
        expect(await database.models.items.countDocuments({ name })).toBeGreaterThan(0);
      });
      await worker.end('SIGKILL');
      await eventually(async () => {
        expect(await jobs.queue.getJobCountByTypes('active', 'waiting')).toBeGreaterThanOrEqual(50);
      });
    } finally {
      isEnough = true;
    }

    worker = ServiceProcess.start('worker', env);
    // Those that got a 503 have created nothing.
    const responses = (await Promise.all(creating)).flat().filter(({ status }) => status !== 503);
    for (const { status } of responses) expect([200, 504]).toContain(status);
    const ids = responses.map(({ body }) => body.id ?? body.data?.id ?? 'none').sort();
    await eventually(async () => {
      const stored = await database.models.items.find({ name }, { _id: 1, publicId: 1 }).lean();
      expect(stored.map(({ _id }) => _id.toHexString()).sort()).toEqual(ids);
      expect(new Set(stored.map(({ publicId }) => publicId)).size).toBe(ids.length);
    }, DONE_WITHIN_MS);
    expect(await jobs.queue.getFailedCount()).toBe(0);
  });
});
