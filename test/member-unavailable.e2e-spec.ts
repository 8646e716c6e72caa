import { SchemaRepository, type Database } from '@app/database';
import { runToExit } from './support/command.js';
import { createMongodb, removeDatabaseServers, startReplicaSet } from './support/database-servers.js';
import { openDatabase } from './support/environment.js';
import { validInput } from './support/items.js';

const ALL_INDEXES = { unique: [], performance: [] };

describe('commands while a secondary is unavailable', () => {
  let env: { MONGODB_URI: string };
  let database: Database;
  let schema: SchemaRepository;
  beforeAll(async () => {
    const mongods = await Promise.all(Array.from({ length: 3 }, () => createMongodb()));
    await startReplicaSet(mongods);
    const hosts = mongods.map(({ port }) => `127.0.0.1:${String(port)}`);
    env = { MONGODB_URI: `mongodb://${hosts.join(',')}/own?replicaSet=rs0` };
    database = await openDatabase(env);
    schema = new SchemaRepository(database);
    const primary = ((await database.connection.db?.command({ hello: 1 })) as { primary: string }).primary;
    await mongods[hosts.findIndex((host) => host !== primary)]?.kill();
    // Starting three servers and electing a primary takes minutes on a busy machine.
  }, 240_000);
  afterAll(async () => {
    await database.close();
    await removeDatabaseServers();
  });

  it('an import into an empty database builds the search index', async () => {
    await schema.createIndexes();
    const { code, stdout } = await runToExit('import', env, ['-'], JSON.stringify(validInput({})));
    expect([code, stdout]).toEqual([0, expect.stringContaining('Search index built')]);
    expect(await schema.missingIndexes()).toEqual(ALL_INDEXES);
  });

  it('setup builds the indexes of a database with items', async () => {
    await database.models.items.collection.dropIndexes();
    expect(await database.models.items.exists({})).not.toBeNull();
    expect((await schema.missingIndexes()).unique).toEqual(['items.publicId_1']);
    expect(await runToExit('setup', env, [])).toMatchObject({ code: 0 });
    expect(await schema.missingIndexes()).toEqual(ALL_INDEXES);
  });
});
