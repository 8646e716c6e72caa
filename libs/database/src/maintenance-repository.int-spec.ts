import { record, store } from '../../../test/support/items.js';
import { profile } from '../../../test/support/profile.js';
import { freshEnvironment, openDatabase } from '../../../test/support/service.js';
import type { Database } from './database.js';
import type { ItemRecord } from './item-record.js';
import { MaintenanceRepository, type StaleItem } from './maintenance-repository.js';
import { SchemaRepository } from './schema-repository.js';

const NOW = new Date('2026-11-01T00:00:00Z');
const BATCH = 500;

describe('MaintenanceRepository', () => {
  let database: Database;
  let maintenance: MaintenanceRepository;
  beforeEach(async () => {
    database = await openDatabase(freshEnvironment());
    await new SchemaRepository(database).createIndexes();
    maintenance = new MaintenanceRepository(database);
  });
  afterEach(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });

  const boosted = (endedMsAgo: number, changes: Partial<ItemRecord> = {}): ItemRecord =>
    record({ isBoosted: true, boostScore: 5, boostExpiresAt: new Date(NOW.getTime() - endedMsAgo), ...changes });
  const stillBoosted = async (): Promise<number[]> =>
    (await database.models.items.find({ isBoosted: true }).sort({ publicId: 1 }).lean()).map(
      ({ publicId }) => publicId,
    );

  it('clears lapsed boosts in batches of at most 500, the oldest first', async () => {
    const lapsed = Array.from({ length: 2 * BATCH + 100 }, (_, index) => boosted((index * 7919) % 100_000));
    const active = [boosted(-1), boosted(0, { boostExpiresAt: null })];
    await store(database, ...lapsed, ...active);
    const { items } = database.models;
    const updateMany = jest.spyOn(items, 'updateMany');
    expect(await maintenance.clearLapsedBoosts(NOW)).toBe(lapsed.length);
    const batches = updateMany.mock.calls.map(([filter]) =>
      (filter as unknown as { _id: { $in: unknown[] } })._id.$in.map(String),
    );
    updateMany.mockRestore();
    expect(batches.map(({ length }) => length)).toEqual([BATCH, BATCH, 100]);
    const oldest = lapsed.sort((a, b) => Number(a.boostExpiresAt) - Number(b.boostExpiresAt));
    expect(batches.flat()).toEqual(oldest.map(({ _id }) => _id.toHexString()));
    expect(await stillBoosted()).toEqual(active.map(({ publicId }) => publicId));
    expect(await items.countDocuments({ isBoosted: false, boostScore: 0 })).toBe(lapsed.length);
  });

  it('marks an item as stale again if another service changes its texts meanwhile', async () => {
    const [renamed, branded, same, deleted] = await store(database, record(), record(), record(), record());
    const { items } = database.models;
    await items.updateMany({}, { $unset: { searchTerms: 1, searchVersion: 1 } });
    const findStale = async (): Promise<StaleItem[]> => {
      const found: StaleItem[] = [];
      for await (const batch of maintenance.findStale(2, new Date(Date.now() + 1000))) found.push(...batch);
      return found;
    };
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

  it('keeps a boost that another service extends meanwhile', async () => {
    const [extended, ended] = await store(database, boosted(2), boosted(1));
    const { items } = database.models;
    const updateMany = jest
      .spyOn(items, 'updateMany')
      .mockImplementationOnce(((...args: Parameters<typeof items.updateMany>) =>
        items
          .updateOne({ _id: extended._id }, { $set: { boostExpiresAt: new Date(NOW.getTime() + 1) } })
          .then(() => items.updateMany(...args))) as never);
    expect(await maintenance.clearLapsedBoosts(NOW)).toBe(1);
    updateMany.mockRestore();
    expect(await stillBoosted()).toEqual([extended.publicId]);
    expect(ended.publicId).toBeDefined();
  });

  it('reads no keys or documents if no boost has lapsed', async () => {
    await store(database, ...Array.from({ length: 20 }, () => boosted(-1)), record());
    const newQueries = await profile(database);
    expect(await maintenance.clearLapsedBoosts(NOW)).toBe(0);
    expect(await newQueries()).toMatchObject([
      { planSummary: 'IXSCAN { boostExpiresAt: 1 }', keysExamined: 0, docsExamined: 0 },
    ]);
  });

  it('finds stale items from the index, those without search terms first, up to a limit', async () => {
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
