import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SchemaRepository, type Database } from '@app/database';
import { openDatabase } from './support/environment.js';
import { eventually } from './support/eventually.js';
import { uniqueWord, validInput } from './support/items.js';
import { createMongodb, startMongodb, removeDatabaseServers } from './support/database-servers.js';

const run = promisify(execFile);
/** Longer than the launcher waits for other processes to stop. */
const INDEX_BUILD_MS = 12_000;

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

  it.each(['SIGINT', 'SIGQUIT'] as const)('builds the search index before it exits after %s', async (signal) => {
    await database.models.items.deleteMany({});
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
    launcher.kill(signal);
    expect(await exited).toEqual([130, null]);
    expect(await schema.missingIndexes()).toEqual({ unique: [], performance: [] });
  });

  it('imports into the database whose URI is in a file', async () => {
    await new SchemaRepository(database).createIndexes();
    const folder = await mkdtemp(join(tmpdir(), 'import-uri-'));
    const file = join(folder, 'mongodb-uri');
    await writeFile(file, env['MONGODB_URI'] ?? '');
    const importing = run(process.execPath, ['tools/import.mjs', '-'], {
      env: { PATH: env['PATH'], MONGODB_URI_FILE: file },
    });
    const name = uniqueWord();
    importing.child.stdin?.end(JSON.stringify(validInput({ name })));
    expect((await importing).stdout).toContain('1 stored');
    expect(await database.models.items.countDocuments({ name })).toBe(1);
    await rm(folder, { recursive: true });
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
