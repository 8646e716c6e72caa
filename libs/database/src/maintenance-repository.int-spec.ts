import { mongo } from 'mongoose';
import { freshEnvironment, openDatabase } from '../../../test/support/environment.js';
import { insertUnreadable, UNREADABLE } from '../../../test/support/insert-bson.js';
import { record, store } from '../../../test/support/items.js';
import { profile } from '../../../test/support/profile.js';
import type { Database } from './connection/database.js';
import type { ItemRecord } from './item-record.js';
import { MaintenanceRepository, type StaleItem } from './maintenance-repository.js';
import { SchemaRepository } from './schema-repository.js';

const NOW = new Date('2026-11-01T00:00:00Z');
const BATCH = 100;

describe('MaintenanceRepository', () => {
  let database: Database;
  let maintenance: MaintenanceRepository;
  const env = freshEnvironment();
  const { MONGODB_URI: uri = '' } = env;
  beforeEach(async () => {
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    maintenance = new MaintenanceRepository(database);
  });
  afterEach(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });

  const findStale = async (createdBefore = new Date(Date.now() + 1000)): Promise<StaleItem[]> => {
    const found: StaleItem[] = [];
    for await (const batch of maintenance.findStale(2, createdBefore)) found.push(...batch);
    return found;
  };
  const boosted = (endedMsAgo: number, changes: Partial<ItemRecord> = {}): ItemRecord =>
    record({ isBoosted: true, boostScore: 5, boostExpiresAt: new Date(NOW.getTime() - endedMsAgo), ...changes });
  const stillBoosted = async (): Promise<number[]> =>
    (await database.models.items.find({ isBoosted: true }).sort({ publicId: 1 }).lean()).map(
      ({ publicId }) => publicId,
    );

  it('lapsed boosts are cleared in batches of at most 100, the oldest first', async () => {
    const lapsed = Array.from({ length: 2 * BATCH + 20 }, (_, index) => boosted((index * 7919) % 100_000));
    const active = [boosted(-1), boosted(0, { boostExpiresAt: null })];
    await store(database, ...lapsed, ...active);
    const { items } = database.models;
    const updateMany = jest.spyOn(items.collection, 'updateMany');
    expect(await maintenance.clearLapsedBoosts(NOW)).toBe(lapsed.length);
    const batches = updateMany.mock.calls.map(([filter]) =>
      (filter as unknown as { _id: { $in: unknown[] } })._id.$in.map(String),
    );
    updateMany.mockRestore();
    expect(batches.map(({ length }) => length)).toEqual([BATCH, BATCH, 20]);
    const oldest = lapsed.sort((a, b) => Number(a.boostExpiresAt) - Number(b.boostExpiresAt));
    expect(batches.flat()).toEqual(oldest.map(({ _id }) => _id.toHexString()));
    expect(await stillBoosted()).toEqual(active.map(({ publicId }) => publicId));
    expect(await items.countDocuments({ isBoosted: false, boostScore: 0 })).toBe(lapsed.length);
  });

  it('an item is marked as stale again if another service changes its texts meanwhile', async () => {
    const [renamed, branded, same, deleted] = await store(database, record(), record(), record(), record());
    const { items } = database.models;
    await items.updateMany({}, { $unset: { searchTerms: 1, searchVersion: 1 } });
    const found = await findStale();
    expect(found).toHaveLength(4);
    await items.updateOne({ _id: renamed._id }, { $set: { name: 'Other' } });
    await items.updateOne({ _id: branded._id }, { $set: { brandTitle: 'Other' } });
    await items.deleteOne({ _id: deleted._id });
    const fields = { searchTerms: ['lamp'], searchVersion: 2 };
    expect(await maintenance.updateSearchFields(found.map((item) => ({ item, fields })))).toBe(1);
    expect((await findStale()).map(({ name, brandTitle }) => [name, brandTitle])).toEqual([
      ['Other', renamed.brandTitle],
      [branded.name, 'Other'],
    ]);
    expect(await items.findById(same._id).lean()).toMatchObject(fields);
  });

  it.each([
    ['text', '2026-10-31T23:59:59.000Z', '2026-11-01T00:00:01.000Z'],
    ['text with an offset', '2026-11-01T01:59:59+02:00', '2026-10-31T23:00:01-01:00'],
    ['a Long', mongo.Long.fromNumber(NOW.getTime() - 1), mongo.Long.fromNumber(NOW.getTime() + 1)],
    ['a double', NOW.getTime() - 1, NOW.getTime() + 1],
    ['a Decimal128', mongo.Decimal128.fromString(String(NOW.getTime() - 1)), mongo.Decimal128.fromString('1e13')],
  ])('lapsed boosts are cleared if their end is stored as %s', async (_, past, future) => {
    const [lapsed, active, other] = await store(database, boosted(0), boosted(0), boosted(0));
    const ends = [past, future, 'some day'];
    for (const [index, { _id }] of [lapsed, active, other].entries())
      await database.models.items.collection.updateOne({ _id }, [{ $set: { boostExpiresAt: ends[index] } }]);
    for (let times = 0; times < 2; times++) await maintenance.clearLapsedBoosts(NOW);
    expect(await stillBoosted()).toEqual([active.publicId, other.publicId]);
  });

  it.each([253_402_300_800_000, -62_167_219_200_001, '+010000-01-01T00:00:00Z'])(
    'lapsed boosts are cleared beside one whose end the validator refuses as a date: %p',
    async (end) => {
      await new SchemaRepository(database).validateWrites(true);
      const [lapsed, other] = await store(database, boosted(0), { ...boosted(0), searchVersion: 0 });
      await database.models.items.collection.updateOne({ _id: other._id }, [{ $set: { boostExpiresAt: end } }]);
      expect(await maintenance.clearLapsedBoosts(NOW)).toBe(1);
      expect(await stillBoosted()).toEqual([other.publicId]);
      expect(await database.models.items.findById(lapsed._id).lean()).toMatchObject({ boostScore: 0 });
    },
  );

  it('ends stored as text are converted in batches of at most 100, and nothing is written if an end is no time', async () => {
    const { collection } = database.models.items;
    await store(database, ...Array.from({ length: BATCH + 20 }, () => boosted(0)), boosted(0));
    await collection.updateMany({}, { $set: { boostExpiresAt: '2026-11-02T00:00:00.000Z' } });
    await collection.updateOne({}, { $set: { boostExpiresAt: 'some day' } });
    const updateMany = jest.spyOn(collection, 'updateMany');
    for (let times = 0; times < 2; times++) await maintenance.clearLapsedBoosts(NOW);
    const results = await Promise.all(updateMany.mock.results.map(({ value }) => value as Promise<mongo.UpdateResult>));
    updateMany.mockRestore();
    expect(results.map(({ modifiedCount }) => modifiedCount)).toEqual([BATCH, 20]);
    expect(await collection.countDocuments({ boostExpiresAt: { $type: 'date' } })).toBe(BATCH + 20);
  });

  it('a boost that another service extends meanwhile is kept', async () => {
    const [extended, ended] = await store(database, boosted(2), boosted(1));
    const { collection } = database.models.items;
    const updateMany = jest
      .spyOn(collection, 'updateMany')
      .mockImplementationOnce((...args: Parameters<typeof collection.updateMany>) =>
        collection
          .updateOne({ _id: extended._id }, { $set: { boostExpiresAt: new Date(NOW.getTime() + 1) } })
          .then(() => collection.updateMany(...args)),
      );
    expect(await maintenance.clearLapsedBoosts(NOW)).toBe(1);
    updateMany.mockRestore();
    expect(await stillBoosted()).toEqual([extended.publicId]);
    expect(ended.publicId).toBeDefined();
  });

  it('clearLapsedBoosts reads no documents, and at most one key per query, if no boost has lapsed', async () => {
    await store(database, ...Array.from({ length: 20 }, () => boosted(-1)), record());
    const newQueries = await profile(database);
    expect(await maintenance.clearLapsedBoosts(NOW)).toBe(0);
    const queries = await newQueries();
    expect(queries.length).toBeGreaterThan(0);
    for (const { planSummary, keysExamined, docsExamined } of queries) {
      expect([planSummary, docsExamined]).toEqual(['IXSCAN { boostExpiresAt: 1 }', 0]);
      expect(keysExamined).toBeLessThanOrEqual(1);
    }
  });

  it('stale items are found even if another service has stored their time as text', async () => {
    const [{ _id }] = await store(database, record());
    const change = { $set: { createdAt: '2026-10-01T00:00:00Z' }, $unset: { searchVersion: 1 } } as object;
    await database.models.items.collection.updateOne({ _id }, change);
    expect(await findStale(NOW)).toHaveLength(1);
  });

  it.each(['name', 'description', 'brandTitle'])(
    'stale items are updated even if the driver cannot read their %s',
    async (field) => {
      const { collection } = database.models.items;
      const unreadable = { ...record(), [field]: UNREADABLE, searchVersion: 1 };
      await insertUnreadable(uri, collection.collectionName, unreadable);
      await store(database, { ...record(), searchVersion: 1 });
      const found = await findStale();
      const fields = { searchTerms: ['lamp'], searchVersion: 2 };
      expect(await maintenance.updateSearchFields(found.map((item) => ({ item, fields })))).toBe(2);
      expect(found.some((item) => field in item)).toBe(true);
      expect(found.every((item) => field in item)).toBe(false);
    },
  );

  it('stale items are updated and lapsed boosts cleared beside an item whose id the driver cannot read', async () => {
    const { collection } = database.models.items;
    const [unreadable, readable] = [boosted(2, { searchVersion: 1 }), boosted(1, { searchVersion: 1 })];
    await insertUnreadable(uri, collection.collectionName, { ...unreadable, _id: UNREADABLE });
    await store(database, readable);
    expect((await findStale()).map(({ _id }) => _id)).toEqual([readable._id]);
    expect(await maintenance.clearLapsedBoosts(NOW)).toBe(1);
  });

  it.each([['a text'], [{ toString: 1 }], [7]])('stale items are updated even if their id is %j', async (_id) => {
    const { collection } = database.models.items;
    await collection.insertOne({ ...record(), _id, searchVersion: 1 } as never);
    await store(database, { ...record(), searchVersion: 1 });
    const found = await findStale();
    const fields = { searchTerms: ['lamp'], searchVersion: 2 };
    expect(await maintenance.updateSearchFields(found.map((item) => ({ item, fields })))).toBe(2);
    expect(await collection.countDocuments(fields)).toBe(2);
  });

  it('the other items of a batch are updated if MongoDB cannot index some, which are not found again', async () => {
    const stored = await store(database, ...Array.from({ length: 6 }, () => record()));
    const { collection } = database.models.items;
    const stale = { $unset: { searchTerms: 1, searchVersion: 1 } } as object;
    await collection.updateMany({}, stale);
    // An index may contain only one array.
    for (const { _id } of stored.slice(2, 4)) await collection.updateOne({ _id }, [{ $set: { createdAt: [NOW] } }]);
    const fields = { searchTerms: ['lamp', 'red'], searchVersion: 2 };
    const updates = (await findStale()).map((item) => ({ item, fields }));
    expect(updates).toHaveLength(6);
    expect(await maintenance.updateSearchFields(updates)).toBe(4);
    expect(await collection.countDocuments({ searchTerms: 'lamp' })).toBe(4);
    expect(await findStale()).toEqual([]);
  });

  it('the other items of a batch are updated if another service has made a new one invalid', async () => {
    const [broken, ...others] = await store(
      database,
      record({ searchVersion: 0 }),
      record({ searchVersion: 0 }),
      record(),
    );
    await new SchemaRepository(database).validateWrites(true);
    const price = '12.50' as unknown as number;
    await database.models.items.collection.updateOne({ _id: broken._id }, { $set: { price } });
    const fields = { searchTerms: ['lamp'], searchVersion: 2 };
    const updates = [broken, ...others].map((item) => ({ item, fields }));
    expect(await maintenance.updateSearchFields(updates)).toBe(2);
    expect(await database.models.items.countDocuments({ searchTerms: 'lamp' })).toBe(2);
  });

  it('an item is marked as stale again even if MongoDB refuses to mark an earlier one', async () => {
    const [broken, renamed] = await store(database, record({ searchVersion: 0 }), record());
    await new SchemaRepository(database).validateWrites(true);
    const { collection } = database.models.items;
    await collection.updateOne({ _id: broken._id }, { $set: { name: 'Other', price: '12.50' } });
    await collection.updateOne({ _id: renamed._id }, { $set: { name: 'Other' } });
    const fields = { searchTerms: ['lamp'], searchVersion: 2 };
    const updates = [broken, renamed].map((item) => ({ item, fields }));
    expect(await maintenance.updateSearchFields(updates)).toBe(0);
    expect((await findStale()).map(({ _id }) => _id)).toEqual([renamed._id, broken._id]);
  });

  it('stale items that another worker updates after the batch in progress are not found', async () => {
    await store(database, ...Array.from({ length: 4 * BATCH }, () => record({ searchVersion: 1 })));
    const batches = maintenance.findStale(2, new Date(Date.now() + 1000));
    expect((await batches.next()).value).toHaveLength(BATCH);
    expect((await batches.next()).value).toHaveLength(BATCH);
    await database.models.items.updateMany({}, { $set: { searchVersion: 2 } });
    expect(await batches.next()).toEqual({ done: true, value: undefined });
  });

  it('stale items are found from the index, those without search terms first, up to a limit', async () => {
    const at = (hour: number): Partial<ItemRecord> => ({ createdAt: new Date(NOW.getTime() - hour * 3_600_000) });
    const [older, newer, , unset] = await store(
      database,
      record({ ...at(9), searchVersion: 1 }),
      record({ ...at(2), searchVersion: 1 }),
      record({ ...at(9), searchVersion: 2 }),
      record(at(3)),
      record({ ...at(0), searchVersion: 1 }),
    );
    await database.models.items.collection.updateOne({ _id: unset._id }, { $unset: { searchVersion: 1 } });
    const newQueries = await profile(database);
    const find = async (limit?: number): Promise<string[]> => {
      const found: string[] = [];
      for await (const batch of maintenance.findStale(2, NOW, limit))
        found.push(...batch.map(({ _id }) => _id.toHexString()));
      return found;
    };
    const stale = [unset, older, newer].map(({ _id }) => _id.toHexString());
    expect(await find()).toEqual(stale);
    expect(await find(2)).toEqual(stale.slice(0, 2));
    for (const { planSummary, docsExamined } of await newQueries()) {
      expect(planSummary).toBe('IXSCAN { searchVersion: 1, createdAt: 1 }');
      expect(docsExamined).toBeLessThanOrEqual(3);
    }
  });
});
