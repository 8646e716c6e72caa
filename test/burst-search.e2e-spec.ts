import { SchemaRepository, type Database } from '@app/database';
import type { ApiClient } from './support/api-client.js';
import { freshEnvironment, openDatabase } from './support/environment.js';
import { eventually } from './support/eventually.js';
import { uniqueWord, validInput } from './support/items.js';
import { endProcesses, ServiceProcess } from './support/processes.js';

const BURST = 400;
/** Few enough to be indexed in the time that a worker has to stop, even on a busy machine. */
const SMALL_BURST = 64;

describe('the items of a burst', () => {
  let env: NodeJS.ProcessEnv;
  let database: Database;
  let client: ApiClient;
  beforeAll(async () => {
    env = { ...freshEnvironment(), LOG_LEVEL: 'info' };
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    const api = ServiceProcess.start('api', env);
    client = await api.client();
  });
  afterAll(async () => {
    await endProcesses();
    await database.connection.dropDatabase();
    await database.close();
  });

  const countUnindexed = (): Promise<number> =>
    database.models.items.countDocuments({ searchVersion: { $in: [null, 0] } });

  it('the items of a burst are stored first and found by search within five seconds', async () => {
    const worker = ServiceProcess.start('worker', env);
    await worker.waitForStatus('ready');
    const name = uniqueWord();
    const stream = database.models.items.collection.watch([{ $match: { operationType: 'insert' } }]);
    // Opens it.
    await stream.tryNext();
    const created = await Promise.all(Array.from({ length: BURST }, () => client.create(validInput({ name }))));
    await eventually(async () => {
      const found = await client.getAll({ search: name, pageSize: 100, page: BURST / 100 });
      expect(found).toHaveLength(100);
    }, 5000);
    expect(await countUnindexed()).toBe(0);
    expect(created).toHaveLength(BURST);
    const inserted: unknown[] = [];
    while (inserted.length < BURST) inserted.push(await stream.next());
    expect(inserted).toContainEqual(
      expect.objectContaining({ fullDocument: expect.objectContaining({ searchVersion: 0 }) as object }),
    );
    await stream.close();
    await worker.end('SIGTERM');
  });

  it('the items of a burst are indexed even if their worker is stopped right after the burst', async () => {
    const worker = ServiceProcess.start('worker', env);
    await worker.waitForStatus('ready');
    await Promise.all(Array.from({ length: SMALL_BURST }, () => client.create(validInput())));
    expect(await worker.end('SIGTERM')).toMatchObject({ code: 0 });
    expect(await countUnindexed()).toBe(0);
  });
});
