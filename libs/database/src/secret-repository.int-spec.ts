import { freshEnvironment } from '../../../test/support/environment.js';
import { eventually } from '../../../test/support/eventually.js';
import {
  createMongodb,
  startReplicaSet,
  removeDatabaseServers,
  type DatabaseServer,
} from '../../../test/support/database-servers.js';
import { isDatabaseUnavailable } from './connection/database-errors.js';
import { Database } from './connection/database.js';
import { SecretRepository } from './secret-repository.js';

describe('the secret of a database', () => {
  let database: Database;
  beforeEach(async () => {
    const { MONGODB_URI: uri = '' } = freshEnvironment();
    // Many callers at the same time wait for as many new connections.
    database = new Database({ uri, serverSelectionMs: 60_000, socketMs: 0 });
    await database.connect(() => undefined);
  });
  afterEach(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });

  it('the secret of a database is the same for all callers, even if the first ones race', async () => {
    const load = (): Promise<string> => new SecretRepository(database).findOrCreate();
    const secrets = new Set(await Promise.all(Array.from({ length: 50 }, load)));
    expect(secrets.size).toBe(1);
    expect(await load()).toBe([...secrets][0]);
    expect(await database.models.secrets.countDocuments()).toBe(1);
  });

  it('the secret of a database is long and random', async () => {
    expect(await new SecretRepository(database).findOrCreate()).toMatch(/^[\w-]{43}$/);
  });
});

describe('the secret of a replica set', () => {
  let members: [DatabaseServer, DatabaseServer, DatabaseServer];
  const open: Database[] = [];
  const connect = async (uri: string, readMs = 1000): Promise<Database> => {
    const database = new Database({ uri, serverSelectionMs: 1500, socketMs: 5000, readMs });
    await database.connect(() => undefined);
    open.push(database);
    return database;
  };
  beforeAll(async () => {
    members = await Promise.all([createMongodb(), createMongodb(), createMongodb()]);
    await startReplicaSet(members);
  });
  afterAll(async () => {
    await Promise.all(open.map((database) => database.close()));
    await removeDatabaseServers();
  });

  it('the secret of a replica set is not returned until a majority has stored it', async () => {
    const hosts = members.map(({ port }) => `127.0.0.1:${String(port)}`).join(',');
    const database = await connect(`mongodb://${hosts}/own?replicaSet=rs0`);
    const { primary } = (await database.connection.db?.command({ hello: 1 })) as { primary: string };
    const others = members.filter(({ port }) => !primary.endsWith(`:${String(port)}`));
    const direct = await connect(`mongodb://${primary}/own?directConnection=true`);
    await Promise.all(others.map((member) => member.pause()));
    const ofOneMember = { upsert: true, writeConcern: { w: 1 } } as const;
    await direct.models.secrets.updateOne({ _id: 'idempotency' }, { value: 'of one member' }, ofOneMember);
    const error: unknown = await new SecretRepository(direct).findOrCreate().catch((reason: unknown) => reason);
    expect(isDatabaseUnavailable(error)).toBe(true);
    for (const member of others) member.resume();
    await eventually(async () => {
      expect(await new SecretRepository(database).findOrCreate()).toMatch(/./);
    }, 90_000);
  });
});
