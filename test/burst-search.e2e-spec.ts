import { SchemaRepository, type Database } from '@app/database';
import type { ApiClient } from './support/api-client.js';
import { freshEnvironment, openDatabase } from './support/environment.js';
import { eventually } from './support/eventually.js';
import { uniqueWord, validInput } from './support/items.js';
import { endProcesses, ServiceProcess } from './support/processes.js';

const BURST = 400;

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
    const creates = Array.from({ length: BURST }, () => client.create(validInput({ name })));
    await eventually(async () => {
      expect(await countUnindexed()).toBeGreaterThan(0);
    });
    const created = await Promise.all(creates);
    await eventually(async () => {
      const found = await client.getAll({ search: name, pageSize: 100, page: BURST / 100 });
      expect(found).toHaveLength(100);
    }, 5000);
    expect(await countUnindexed()).toBe(0);
    expect(created).toHaveLength(BURST);
    await worker.end('SIGTERM');
  });

  it('the items of a burst are indexed even if their worker is stopped right after the burst', async () => {
    const worker = ServiceProcess.start('worker', env);
    await worker.waitForStatus('ready');
    await Promise.all(Array.from({ length: BURST }, () => client.create(validInput())));
    expect(await worker.end('SIGTERM')).toMatchObject({ code: 0 });
    expect(await countUnindexed()).toBe(0);
  });
});
