import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Item } from '@app/contracts';
import { ApiKeyRepository, SchemaRepository, type ApiKey, type Database } from '@app/database';
import type { ApiClient } from '../support/api-client.js';
import { runToExit, type CommandExit } from '../support/command.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { record as storedRecord, validInput } from '../support/items.js';
import { endProcesses, ServiceProcess } from '../support/processes.js';
import { findProgram } from '../support/programs.js';
import { bearer } from '../support/token-issuer.js';

const run = promisify(execFile);
const hasTools = findProgram('mongorestore') !== undefined;

// The steps of docs/operations.md, without Docker.
describe(`a backup (${hasTools ? 'by' : 'without'} the MongoDB Database Tools)`, () => {
  let env: NodeJS.ProcessEnv;
  let database: Database;
  let folder: string;

  beforeAll(async () => {
    env = freshEnvironment({ LOG_LEVEL: 'info', AUTH_API_KEYS: 'on' });
    database = await openDatabase(env);
    const schema = new SchemaRepository(database);
    await schema.createIndexes();
    await schema.validateWrites(true);
    folder = await mkdtemp(join(tmpdir(), 'backup-'));
  });
  afterAll(async () => {
    await endProcesses();
    await rm(folder, { recursive: true });
    await database.connection.dropDatabase();
    await database.close();
  });

  const startBoth = async (): Promise<ServiceProcess[]> => {
    const processes = [ServiceProcess.start('api', env), ServiceProcess.start('worker', env)];
    await Promise.all(processes.map((process) => process.waitForStatus('ready')));
    return processes;
  };
  const keys = (...args: string[]): Promise<CommandExit> => runToExit('keys', env, args);
  const createKey = async (owner: string): Promise<{ key: string; record: ApiKey }> => {
    const expiresAt = new Date(Date.now() + 3_600_000);
    return new ApiKeyRepository(database).create({ owner, scopes: ['items:create'], expiresAt });
  };

  /** Copies the database, and returns what replaces it by the copy. */
  const backUp = async (): Promise<() => Promise<unknown>> => {
    if (!hasTools) return copyByDriver(database);
    const options = [`--uri=${String(env['MONGODB_URI'])}`, `--archive=${join(folder, 'items.archive')}`, '--gzip'];
    await run('mongodump', options);
    return () => run('mongorestore', [...options, '--drop', '--bypassDocumentValidation']);
  };

  it('a backup restores items, also invalid ones, their keys, API keys as they were, and the numbers of later items', async () => {
    const [kept, leaked] = [await createKey('kept'), await createKey('leaked')];
    const createWith = async (client: ApiClient | undefined, name: string): Promise<Item> => {
      const headers = { 'Idempotency-Key': name, ...bearer(kept.key) };
      const response = await client?.call<Item>('create', validInput({ name }), headers);
      expect(response?.status).toBe(200);
      return response?.body as Item;
    };
    const processes = await startBoth();
    const client = await processes[0]?.client();
    const before = await createWith(client, 'before');
    const { collection } = database.models.items;
    // Stored by another service before there was a validator.
    const invalid = { ...storedRecord(), price: 'unknown' };
    await collection.insertOne(invalid, { bypassDocumentValidation: true });
    const restore = await backUp();
    const after = await createWith(client, 'after');
    await createKey('after');
    expect(await keys('revoke', leaked.record.id)).toMatchObject({ code: 0 });

    const revoked = revokedIn(await keys('list'));
    await Promise.all(processes.map((process) => process.end('SIGTERM')));
    await restore();
    expect(await runToExit('setup', env, [])).toMatchObject({ code: 0 });
    expect(await new ApiKeyRepository(database).findAll()).toEqual([kept.record, leaked.record]);
    for (const id of revoked) expect(await keys('revoke', id)).toMatchObject({ code: 0 });
    const restored = await (await startBoth())[0]?.client();

    expect((await restored?.call('getAll', {}, bearer(leaked.key)))?.status).toBe(401);
    expect((await restored?.call('getById', { id: before.id }))?.body).toEqual(before);
    expect((await restored?.call('getById', { id: after.id }))?.status).toBe(404);
    expect(await collection.findOne({ _id: invalid._id })).toEqual(invalid);
    await expect(collection.insertOne({ ...storedRecord(), price: 'unknown' })).rejects.toThrow('validation');
    expect(await createWith(restored, 'before')).toEqual(before);
    expect((await createWith(restored, 'after')).id).toBe(after.id);
    expect((await createWith(restored, 'new')).publicId).toBeGreaterThan(before.publicId);
  });
});

/** Returns the ids of the revoked keys in the output of `keys list`. */
function revokedIn({ stdout }: CommandExit): string[] {
  return [...stdout.matchAll(/^(\S+) {2}\S+ {2}revoked /gm)].flatMap(([, id]) => id ?? []);
}

/** Like `backUp`, but without the indexes, which `setup` has to create again. */
async function copyByDriver({ connection }: Database): Promise<() => Promise<void>> {
  // Keeps the BSON types of the values.
  const form = { promoteValues: false };
  const collections = await connection.db?.listCollections().toArray();
  const copies = await Promise.all(
    (collections ?? []).map(async (collection) => ({
      name: collection.name,
      options: 'options' in collection ? collection.options : {},
      documents: await connection.collection(collection.name).find({}, form).toArray(),
    })),
  );
  return async () => {
    for (const { name, options, documents } of copies) {
      await connection.dropCollection(name);
      const collection = await connection.createCollection(name, options);
      if (documents.length > 0) await collection.insertMany(documents, { bypassDocumentValidation: true });
    }
  };
}
