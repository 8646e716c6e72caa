import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SchemaRepository, type Database } from '@app/database';
import { Command, runToExit } from '../support/command.js';
import { openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { record, store, uniqueWord, validInput } from '../support/items.js';
import { createMongodb, startMongodb, removeDatabaseServers } from '../support/database-servers.js';

const run = promisify(execFile);
/** Longer than the launcher waits for other processes to stop. */
const INDEX_BUILD_MS = 12_000;
/** How long a busy machine may take until a command has started and does its work. */
const STARTED_WITHIN_MS = 60_000;
/** More than an import of brands updates at a time. */
const ITEMS = 3500;
const UPDATE_MS = 4000;

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

  it.each(['SIGINT', 'SIGQUIT'] as const)(
    'npm run import builds the search index before it exits after %s',
    async (signal) => {
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
      }, STARTED_WITHIN_MS);
      expect((await schema.missingIndexes()).performance).toHaveLength(1);
      await delayOneIndexBuild();
      launcher.kill(signal);
      expect(await exited).toEqual([130, null]);
      expect(await schema.missingIndexes()).toEqual({ unique: [], performance: [] });
    },
  );

  it('npm run import stores items in the database whose URI is in a file', async () => {
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

  it('npm run import stops passing a renamed brand on after a signal, and continues when it runs again', async () => {
    await new SchemaRepository(database).createIndexes();
    await database.models.items.deleteMany({});
    await store(database, ...Array.from({ length: ITEMS }, () => record({ brandId: 5 })));
    const brandTitle = uniqueWord();
    const line = JSON.stringify({ id: 5, title: brandTitle });
    const args = ['-', '--kind', 'brands'];
    await delayUpdatesOfItems('alwaysOn');
    const command = new Command('import', env, args);
    command.child.stdin?.end(line);
    await eventually(async () => {
      expect(await database.models.items.exists({ brandTitle })).not.toBeNull();
    }, STARTED_WITHIN_MS);
    command.child.kill('SIGTERM');
    const { code, stdout } = await command.waitForExit();
    await delayUpdatesOfItems('off');
    expect([code, stdout]).toEqual([143, expect.stringContaining('run the same command again')]);
    expect(await database.models.items.countDocuments({ brandTitle })).toBeLessThan(ITEMS);
    expect(await runToExit('import', env, args, line)).toMatchObject({ code: 0 });
    expect(await database.models.items.countDocuments({ brandTitle, searchTerms: brandTitle })).toBe(ITEMS);
  });

  /** Delays each command that updates items. */
  async function delayUpdatesOfItems(mode: 'alwaysOn' | 'off'): Promise<void> {
    const { db } = database.connection;
    await database.connection
      .getClient()
      .db('admin')
      .command({
        configureFailPoint: 'failCommand',
        mode,
        data: {
          failCommands: ['update'],
          namespace: `${String(db?.databaseName)}.items`,
          blockConnection: true,
          blockTimeMS: UPDATE_MS,
        },
      });
  }

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
