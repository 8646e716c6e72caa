import { SchemaRepository, type Database, type ItemRecord } from '@app/database';
import { CREATE_JOB_OPTIONS } from '@app/queue';
import { freshEnvironment, openDatabase } from './support/environment.js';
import { eventually } from './support/eventually.js';
import { uniqueWord } from './support/items.js';
import { endProcesses, ServiceProcess } from './support/processes.js';
import { createJob, openQueue, type OpenQueue } from './support/queue.js';

const BURST = 400;
/** Enough for a burst, and few enough to be indexed in the second that a stopping worker has for it. */
const SMALL_BURST = 32;

describe('the items of a burst', () => {
  let env: NodeJS.ProcessEnv;
  let database: Database;
  let jobs: OpenQueue;
  beforeAll(async () => {
    env = freshEnvironment({ LOG_LEVEL: 'info' });
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    jobs = openQueue(env);
  });
  afterAll(async () => {
    await endProcesses();
    await jobs.close();
    await database.connection.dropDatabase();
    await database.close();
  });

  const countUnindexed = (name: string): Promise<number> =>
    database.models.items.countDocuments({ name, searchVersion: { $in: [null, 0] } });

  /** Starts a worker that stores a burst of items with this name. Returns it, and the items as they were stored first. */
  async function store(count: number, name: string): Promise<{ worker: ServiceProcess; inserted: ItemRecord[] }> {
    const added = Array.from({ length: count }, () => createJob());
    for (const job of added) job.item.name = name;
    await jobs.queue.addBulk(
      added.map((job) => ({ name: 'create', data: job, opts: { ...CREATE_JOB_OPTIONS, jobId: job.id } })),
    );
    const stream = database.models.items.collection.watch([{ $match: { operationType: 'insert' } }]);
    // Opens it.
    await stream.tryNext();
    const worker = ServiceProcess.start('worker', env);
    const inserted: ItemRecord[] = [];
    while (inserted.length < count) {
      const change = await stream.next();
      if ('fullDocument' in change) inserted.push(change.fullDocument as ItemRecord);
    }
    await stream.close();
    return { worker, inserted };
  }

  it('the items of a burst are stored first and found by search within five seconds', async () => {
    const api = ServiceProcess.start('api', env);
    await api.waitForStatus('ready');
    const client = await api.client();
    const name = uniqueWord();
    const { worker, inserted } = await store(BURST, name);
    await eventually(async () => {
      const found = await client.getAll({ search: name, pageSize: 100, page: BURST / 100 });
      expect(found).toHaveLength(100);
    }, 5000);
    expect(await countUnindexed(name)).toBe(0);
    // Otherwise, they would have been indexed by maintenance, up to a minute later.
    expect(worker.log.map(({ msg }) => msg)).not.toContain('search terms brought up to date');
    expect(inserted).toContainEqual(expect.objectContaining({ searchVersion: 0 }));
    await worker.end('SIGTERM');
  });

  it('the items of a burst are indexed even if their worker is stopped right after the burst', async () => {
    // On a busy machine, the second may be too short.
    const exit = await eventually(async () => {
      const name = uniqueWord();
      const { worker } = await store(SMALL_BURST, name);
      const exit = await worker.end('SIGTERM');
      expect(await countUnindexed(name)).toBe(0);
      return exit;
    });
    expect(exit).toMatchObject({ code: 0 });
  });
});
