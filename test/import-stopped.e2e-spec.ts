import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { SchemaRepository, type Database } from '@app/database';
import { openDatabase } from './support/environment.js';
import { eventually } from './support/eventually.js';
import { validInput } from './support/items.js';
import { createMongodb, startMongodb, removeDatabaseServers } from './support/database-servers.js';

/** Longer than the launcher waits for other processes to stop. */
const INDEX_BUILD_MS = 12_000;

jest.setTimeout(90_000);

describe('npm run import', () => {
  let env: NodeJS.ProcessEnv;
  let database: Database;
  beforeAll(async () => {
    const mongod = await createMongodb('--setParameter', 'enableTestCommands=1');
    await startMongodb(mongod);
    env = { PATH: process.env['PATH'], MONGODB_URI: mongod.url };
    database = await openDatabase(env);
  });
  afterAll(async () => {
    await database.close();
    await removeDatabaseServers();
  });

  it('builds the search index after a signal before it exits', async () => {
    const schema = new SchemaRepository(database);
    await schema.createIndexes();
    const launcher: ChildProcess = spawn(process.execPath, ['tools/import.mjs', '-'], { env });
    const exited = once(launcher, 'exit');
    launcher.stdout?.resume();
    launcher.stderr?.resume();
    launcher.stdin?.write(`${JSON.stringify(validInput({}))}\n`.repeat(1500));
    await eventually(async () => {
      expect(await database.models.items.exists({})).not.toBeNull();
    });
    expect((await schema.missingIndexes()).performance).toHaveLength(1);
    await delayOneIndexBuild();
    launcher.kill('SIGINT');
    expect(await exited).toEqual([130, null]);
    expect(await schema.missingIndexes()).toEqual({ unique: [], performance: [] });
  });

  async function delayOneIndexBuild(): Promise<void> {
    await database.connection
      .getClient()
      .db('admin')
      .command({
        configureFailPoint: 'failCommand',
        mode: { times: 1 },
        data: { failCommands: ['createIndexes'], blockConnection: true, blockTimeMS: INDEX_BUILD_MS },
      });
  }
});
