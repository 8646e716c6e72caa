import type { CreateJob } from '@app/contracts';
import { SchemaRepository, type Database } from '@app/database';
import { CREATE_JOB_OPTIONS } from '@app/queue';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { killProcesses, ServiceProcess } from '../support/processes.js';
import { createJob, openQueue, type OpenQueue } from '../support/queue.js';

/** What Node.js chooses in a container of 512 MiB. */
const SMALL_HEAP = '--max-old-space-size=256';
/** As many jobs as a batch may have. */
const BATCH = 128;
const DONE_WITHIN_MS = 200_000;
/** The largest `MAX_ITEM_BYTES`, less room for the other fields. One character that is not Latin-1 doubles its memory. */
const LARGEST_TEXT = 1_048_576 - 1000;

jest.setTimeout(300_000);

const many = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

describe('the memory of a worker', () => {
  let database: Database;
  let jobs: OpenQueue;
  let worker: ServiceProcess;

  beforeEach(async () => {
    const env = freshEnvironment({ LOG_LEVEL: 'info', NODE_OPTIONS: SMALL_HEAP });
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    jobs = openQueue(env);
    worker = ServiceProcess.start('worker', env);
    await worker.waitForStatus('ready');
  });
  afterEach(async () => {
    await database.connection.dropDatabase();
    await Promise.all([database.close(), jobs.close()]);
    await killProcesses();
  });

  /** Adds jobs that wait together, each with these changes to its item. */
  const add = async (changes: Partial<CreateJob['item']>[]): Promise<void> => {
    await jobs.queue.pause();
    for (const change of changes) {
      const job = createJob();
      Object.assign(job.item, change);
      await jobs.queue.add('create', job, { ...CREATE_JOB_OPTIONS, jobId: job.id });
    }
    await jobs.queue.resume();
  };

  it.each<[what: string, changes: Partial<CreateJob['item']>[]]>([
    ['objects', many(2 * BATCH, { photos: [many(21_000, {})] })],
    ['texts, after small items', [...many(BATCH, {}), ...many(BATCH, { description: `€${'x'.repeat(LARGEST_TEXT)}` })]],
  ])('the memory of a worker is enough for waiting jobs of the largest %s', async (_what, changes) => {
    await add(changes);
    await eventually(async () => {
      const stored = await database.models.items.estimatedDocumentCount();
      expect(worker.isRunning && stored < changes.length).toBe(false);
    }, DONE_WITHIN_MS);
    expect(worker.isRunning).toBe(true);
  });
});
