import { TimeoutError } from '@app/runtime';
import { mongo } from 'mongoose';
import {
  createMongodb,
  removeDatabaseServers,
  startMongodb,
  type DatabaseServer,
} from '../../../../test/support/database-servers.js';
import { freshEnvironment, openDatabase } from '../../../../test/support/environment.js';
import { eventually } from '../../../../test/support/eventually.js';
import { record, store } from '../../../../test/support/items.js';
import { Database } from './database.js';
import { isDatabaseUnavailable } from './database-errors.js';
import { ItemsTooLarge } from './find-items.js';
import type { ItemRecord } from '../item-record.js';
import { initiateReplicaSet } from '../administration.js';
import { idOf } from '../serialization/item-json.js';
import { ITEMS } from '../serialization/projection.js';

const [NETWORK_TIMEOUT, NOT_PRIMARY, TIME_LIMIT, UNKNOWN_OPERATOR] = [89, 10107, 50, 2];
const [PLAN_KILLED, KILLED] = [175, 11601];

interface ServerStatus {
  metrics: { cursor: { open: { total: number } }; commands: Record<'find' | 'getMore', { total: number }> };
}

describe('Database.connect', () => {
  let mongod: DatabaseServer;
  beforeEach(async () => {
    mongod = await createMongodb();
    mongod.start();
  });
  afterEach(removeDatabaseServers);

  /** Connects until `use` has returned. */
  const connecting = async (
    uri: string,
    use: (database: Database, reported: string[]) => Promise<void>,
  ): Promise<void> => {
    const database = new Database({ uri, serverSelectionMs: 2000, socketMs: 0 });
    const reported: string[] = [];
    const connected = database.connect((line) => reported.push(line));
    try {
      await use(database, reported);
    } finally {
      await database.close();
      await connected;
    }
  };

  it('Database.connect names the command that initiates the replica set, and then connects', async () => {
    await connecting(mongod.url, async (database, reported) => {
      await eventually(() => {
        expect(reported).toContainEqual(expect.stringContaining('npm run setup -- --init-replica-set'));
      }, 60_000);
      await eventually(() => initiateReplicaSet({ set: 'rs0', host: new URL(mongod.url).host }));
      await eventually(() => {
        expect(database.hasResponded).toBe(true);
      });
    });
  });

  it('Database.connect does not name the command that initiates the set if another member may have the set', async () => {
    const { host } = new URL(mongod.url);
    await connecting(mongod.url.replace(host, `${host},127.0.0.1:1`), async (_, reported) => {
      await eventually(() => {
        expect(reported.length).toBeGreaterThan(1);
      }, 60_000);
      expect(reported.join()).not.toContain('init-replica-set');
    });
  });
});

describe('Database.findItems', () => {
  let mongod: DatabaseServer;
  let database: Database;
  beforeAll(async () => {
    mongod = await createMongodb('--setParameter', 'enableTestCommands=1');
    await startMongodb(mongod);
    database = await openDatabase({ ...freshEnvironment(), MONGODB_URI: mongod.url });
  });
  afterEach(async () => {
    await failNextQuery('off');
    await database.models.items.deleteMany({});
  });
  afterAll(async () => {
    await database.close();
    await removeDatabaseServers();
  });

  const admin = async (command: object): Promise<unknown> =>
    database.connection.getClient().db('admin').command(command);
  const serverStatus = async (): Promise<ServerStatus> => (await admin({ serverStatus: 1 })) as ServerStatus;
  const queries = async (): Promise<number> => (await serverStatus()).metrics.commands.find.total;
  const failNextQuery = async (
    failure: 'off' | { closeConnection: true; blockTimeMS?: number } | { errorCode: number; blockTimeMS?: number },
  ): Promise<void> => {
    const fail =
      failure === 'off' ? { mode: 'off' } : { mode: { times: 1 }, data: { failCommands: ['find'], ...failure } };
    await admin({ configureFailPoint: 'failCommand', ...fail });
  };
  const find = async (filter: object = {}): Promise<string[]> => {
    const found = await database.findItems({ filter, ...ITEMS, sort: { publicId: 1 } }, performance.now() + 30_000);
    return found.map((item) => idOf(item));
  };
  /** Expects a read to end at its deadline, which MongoDB may notice just before this process does. */
  const expectTooLate = async (reading: Promise<unknown>): Promise<void> => {
    const error: unknown = await reading.catch((thrown: unknown) => thrown);
    if (!(error instanceof TimeoutError)) expect(error).toMatchObject({ code: TIME_LIMIT });
  };
  const idsOf = (items: readonly ItemRecord[]): string[] => items.map(({ _id }) => _id.toHexString());

  it('findItems finds more items than fit into one response of MongoDB, and leaves no cursor open', async () => {
    const description = 'x'.repeat(7_000_000);
    const items = [1, 2, 3].map((publicId) => record({ publicId, description }));
    for (const item of items) await store(database, item);
    expect(await find()).toEqual(idsOf(items));
    expect((await serverStatus()).metrics.cursor.open.total).toBe(0);
  });

  it('findItems stops reading items at a number of bytes, and leaves no cursor open', async () => {
    const description = 'x'.repeat(7_000_000);
    for (const publicId of [1, 2, 3, 4, 5]) await store(database, record({ publicId, description }));
    const { metrics: before } = await serverStatus();
    const finding = database.findItems({ filter: {}, ...ITEMS }, performance.now() + 30_000, 20_000_000);
    await expect(finding).rejects.toBeInstanceOf(ItemsTooLarge);
    const { metrics } = await serverStatus();
    expect(metrics.cursor.open.total).toBe(0);
    expect(metrics.commands.getMore.total - before.commands.getMore.total).toBe(1);
  });

  it.each([
    ['the connection broke', { closeConnection: true }],
    ['the server was no longer primary', { errorCode: NOT_PRIMARY }],
    ['the server could not reach another one in time', { errorCode: NETWORK_TIMEOUT }],
    ['the index that it used was dropped', { errorCode: PLAN_KILLED }],
  ] as const)('findItems reads again if %s', async (_, failure) => {
    const items = [1, 2].map((publicId) => record({ publicId }));
    await store(database, ...items);
    await failNextQuery(failure);
    expect(await find()).toEqual(idsOf(items));
  });

  it('findItems does not read again after the time limit', async () => {
    await failNextQuery({ errorCode: TIME_LIMIT });
    await expect(find()).rejects.toMatchObject({ code: TIME_LIMIT });
  });

  it('findItems does not read again if an operator has killed the query, which says nothing about the query', async () => {
    await failNextQuery({ errorCode: KILLED });
    const error: unknown = await find().catch((error: unknown) => error);
    expect(error).toMatchObject({ code: KILLED });
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  it('findItems does not read again after its deadline', async () => {
    const blocked = { blockConnection: true, blockTimeMS: 300 };
    await failNextQuery({ errorCode: NOT_PRIMARY, ...blocked });
    const finding = database.findItems({ filter: {}, ...ITEMS }, performance.now() + 200);
    await expectTooLate(finding);
  });

  it('findItems does not read again if MongoDB rejects the query', async () => {
    const before = await queries();
    await expect(find({ $unknown: 1 })).rejects.toMatchObject({ code: UNKNOWN_OPERATOR });
    expect(await queries()).toBe(before + 1);
  });

  it('findItems sends no query that had to wait for a connection until its deadline', async () => {
    const uri = new URL(mongod.url);
    uri.searchParams.set('maxPoolSize', '2');
    const small = await openDatabase({ ...freshEnvironment(), MONGODB_URI: uri.href });
    const before = await queries();
    const data = { failCommands: ['find'], blockConnection: true, blockTimeMS: 1000 };
    await admin({ configureFailPoint: 'failCommand', mode: 'alwaysOn', data });
    const reads = Array.from({ length: 20 }, () =>
      small.findItems({ filter: {}, ...ITEMS }, performance.now() + 300).catch((error: unknown) => error),
    );
    for (const error of await Promise.all(reads)) expect(isDatabaseUnavailable(error)).toBe(true);
    await failNextQuery('off');
    await small.findItems({ filter: {}, ...ITEMS }, performance.now() + 30_000);
    await small.close();
    expect((await queries()) - before).toBeLessThanOrEqual(3);
  });

  it('the state of writes is unknown if MongoDB refuses to tell it', async () => {
    expect(await database.writeState(performance.now() + 30_000)).toMatch(/ \d+$/);
    const data = { failCommands: ['aggregate'], errorCode: 8000 };
    await admin({ configureFailPoint: 'failCommand', mode: { times: 1 }, data });
    expect(await database.writeState(performance.now() + 30_000)).toBeUndefined();
  });

  it('findItems uses the read concern of MONGODB_URI', async () => {
    const uri = new URL(mongod.url);
    uri.searchParams.set('readConcernLevel', 'majority');
    const concerned = await openDatabase({ ...freshEnvironment(), MONGODB_URI: uri.href });
    await concerned.connection.db?.command({ profile: 2 });
    await concerned.findItems({ filter: {}, ...ITEMS }, performance.now() + 30_000);
    const profiled = await concerned.connection.db?.collection('system.profile').find({ op: 'query' }).toArray();
    await concerned.close();
    expect(profiled).toMatchObject([{ command: { readConcern: { level: 'majority' } } }]);
  });

  it.each([
    'raw=true',
    'promoteValues=false',
    'promoteLongs=false',
    'promoteBuffers=true',
    'useBigInt64=true',
    'bsonRegExp=false',
  ])('documents are read in the same form if MONGODB_URI has %s', async (option) => {
    const { Binary, BSONRegExp, Long } = mongo;
    const pattern = new BSONRegExp('(?i)4');
    const stored = { number: 1, long: Long.fromNumber(2), bytes: new Binary(Buffer.from('3')), pattern };
    const { insertedId } = await database.connection.collection('forms').insertOne(stored);
    const other = await openDatabase({ ...freshEnvironment(), MONGODB_URI: `${mongod.url}&${option}` });
    const [expected, found] = await Promise.all(
      [database, other].map(({ connection }) => connection.collection('forms').findOne({ _id: insertedId })),
    );
    await other.close();
    expect(expected).toMatchObject({ number: 1, long: 2, pattern });
    expect(found).toEqual(expected);
  });

  describe('with a time limit for reads', () => {
    /** Runs one query at a time: the next one begins after all attempts of the one before. */
    let api: Database;
    beforeEach(async () => {
      const uri = new URL(mongod.url);
      uri.searchParams.set('maxPoolSize', '1');
      api = new Database({ uri: uri.href, serverSelectionMs: 5000, socketMs: 0, readMs: 60_000 });
      await api.connect(() => undefined);
    });
    afterEach(() => api.close());

    const reads = {
      findItems: (deadline: number) => api.findItems({ filter: {}, ...ITEMS }, deadline),
      readAll: (deadline: number) => api.readAll(deadline, (limits) => api.models.items.collection.find({}, limits)),
    };

    it.each(['findItems', 'readAll'] as const)('%s reads again if the connection broke', async (name) => {
      await store(database, record());
      await failNextQuery({ closeConnection: true });
      expect(await reads[name](performance.now() + 30_000)).toHaveLength(1);
    });

    it.each(['findItems', 'readAll'] as const)('%s does not read again after its deadline', async (name) => {
      const before = await queries();
      const blocked = { blockConnection: true, blockTimeMS: 300 };
      await failNextQuery({ closeConnection: true, ...blocked });
      await expectTooLate(reads[name](performance.now() + 150));
      await reads[name](performance.now() + 30_000);
      // MongoDB does not count the first one.
      expect(await queries()).toBe(before + 1);
    });

    it('readAll fetches no batch after the deadline, and leaves no cursor open', async () => {
      await store(database, record(), record(), record(), record());
      const getMores = async (): Promise<number> => (await serverStatus()).metrics.commands.getMore.total;
      const before = await getMores();
      const data = { failCommands: ['getMore'], blockConnection: true, blockTimeMS: 300 };
      await admin({ configureFailPoint: 'failCommand', mode: { times: 1 }, data });
      const { collection } = api.models.items;
      const reading = api.readAll(performance.now() + 200, (limits) =>
        collection.find({}, { batchSize: 1, ...limits }),
      );
      await expectTooLate(reading);
      await reads.readAll(performance.now() + 30_000);
      expect(await getMores()).toBeLessThanOrEqual(before + 1);
      expect((await serverStatus()).metrics.cursor.open.total).toBe(0);
    });
  });
});
