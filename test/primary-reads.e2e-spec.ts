import type { Item } from '@app/contracts';
import { Database, mongoId, newMongoId } from '@app/database';
import { eventually } from './support/eventually.js';
import { addFavourites, record, store, uniqueWord, validInput } from './support/items.js';
import { createMongodb, startReplicaSet, removeDatabaseServers } from './support/database-servers.js';
import { startService, type Service } from './support/service.js';

const NAME = 'own';
const CATEGORY = 31;
/** By default, a primary repeats some of its reads on secondaries to warm their caches. */
const NO_MIRRORED_READS = 'mirrorReads={samplingRate: 0}';

/** Items are read from the primary even though `MONGODB_URI` prefers secondaries. */
describe('items of a replica set whose secondaries are preferred', () => {
  let service: Service;
  /** One connection to each secondary. */
  let secondaries: Database[];
  beforeAll(async () => {
    const parameters = ['enableTestCommands=1', NO_MIRRORED_READS].flatMap((parameter) => [
      '--setParameter',
      parameter,
    ]);
    const mongods = await Promise.all(Array.from({ length: 3 }, () => createMongodb(...parameters)));
    await startReplicaSet(mongods);
    const hosts = mongods.map(({ port }) => `127.0.0.1:${String(port)}`);
    const members = await Promise.all(hosts.map(connectTo));
    secondaries = await eventually(() => secondariesOf(members), 60_000);
    for (const member of members) if (!secondaries.includes(member)) await member.close();
    const uri = `mongodb://${hosts.join(',')}/${NAME}?replicaSet=rs0&readPreference=secondaryPreferred`;
    service = await startService({ env: { MONGODB_URI: uri } });
    // Starting three servers and electing a primary takes minutes on a busy machine.
  }, 240_000);
  afterAll(async () => {
    await service.stop();
    await Promise.all(secondaries.map((secondary) => secondary.close()));
    await removeDatabaseServers();
  });

  it('items are read from the primary by every kind of read, even if secondaries are preferred', async () => {
    const [name, other] = [uniqueWord(), uniqueWord()];
    await service.database.models.categories.insertMany([{ _id: CATEGORY, slug: 'kettles', title: 'Kettles' }]);
    const items = Array.from({ length: 620 }, () => record({ categoryId: CATEGORY, name: `${name} ${other}` }));
    await store(service.database, ...items);
    await addFavourites(service.database, 'reader', items.slice(0, 3));
    const id = items[1]?._id.toHexString() ?? '';
    for (const secondary of secondaries) await secondary.connection.db?.command({ profile: 2 });
    const lists = [
      {},
      { status: 'available' },
      { categoryId: 'kettles', after: id },
      { search: name },
      { search: `${name} ${other}` },
      { page: 60, pageSize: 10 },
      { userId: 'reader' },
      { userId: 'reader', after: id },
    ];
    // Often enough that every member would be chosen.
    for (let times = 0; times < 5; times++) {
      for (const list of lists) expect(await service.api.getAll(list)).not.toEqual([]);
      await service.api.call('getById', { id });
      await service.api.call('getById', { id: newMongoId() });
    }
    expect((await Promise.all(secondaries.map(queriesOfItems))).flat()).toEqual([]);
  });

  it('items are found immediately while a secondary lags behind', async () => {
    const [lagging] = secondaries;
    const applying = (mode: 'off' | 'alwaysOn'): Promise<unknown> | undefined =>
      lagging?.connection.getClient().db('admin').command({ configureFailPoint: 'rsSyncApplyStop', mode });
    await applying('alwaysOn');
    try {
      for (let times = 0; times < 10; times++) {
        const created = await service.api.create(validInput({ categoryId: '32' }));
        const { status, body } = await service.api.call<Item>('getById', { id: created.id });
        expect([status, body]).toEqual([200, created]);
        expect((await service.api.getAll({ categoryId: '32' }))[0]).toEqual(created);
        await addFavourites(service.database, created.id, [record({ _id: mongoId(created.id) })]);
        expect(await service.api.getAll({ userId: created.id })).toEqual([created]);
      }
    } finally {
      await applying('off');
    }
  });
});

async function connectTo(host: string): Promise<Database> {
  const uri = `mongodb://${host}/${NAME}?directConnection=true&readPreference=secondaryPreferred`;
  const member = new Database({ uri, serverSelectionMs: 5000, socketMs: 0 });
  await member.connect(() => undefined);
  return member;
}

/** Returns the two secondaries. Throws while there are not two yet. */
async function secondariesOf(members: readonly Database[]): Promise<Database[]> {
  const isSecondary = await Promise.all(
    members.map(async ({ connection }) => (await connection.db?.command({ hello: 1 }))?.['secondary'] === true),
  );
  const secondaries = members.filter((_, n) => isSecondary[n]);
  if (secondaries.length !== 2) throw new Error(`${String(secondaries.length)} members are secondaries`);
  return secondaries;
}

/** Returns the queries that a member has run since profiling was enabled. */
async function queriesOfItems({ connection }: Database): Promise<unknown[]> {
  const isQuery = { $or: [{ 'command.find': { $exists: true } }, { 'command.aggregate': { $exists: true } }] };
  const ofItems = { ns: { $in: [`${NAME}.items`, `${NAME}.favourites`] }, ...isQuery };
  const profile = connection.db?.collection('system.profile');
  return (await profile?.find(ofItems, { projection: { _id: 0, ns: 1, 'command.find': 1 } }).toArray()) ?? [];
}
