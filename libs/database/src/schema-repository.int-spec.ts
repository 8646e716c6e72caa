import { freshEnvironment, openDatabase } from '../../../test/support/environment.js';
import { record, store } from '../../../test/support/items.js';
import { profile } from '../../../test/support/profile.js';
import type { Database } from './connection/database.js';
import { LIST_INDEXES } from './models.js';
import { SchemaRepository } from './schema-repository.js';

const SEARCH = 'searchTerms_1_isVisible_1_isBoosted_-1_boostScore_-1_createdAt_-1_publicId_-1';

describe('SchemaRepository', () => {
  let database: Database;
  let schema: SchemaRepository;
  beforeEach(async () => {
    database = await openDatabase(freshEnvironment());
    schema = new SchemaRepository(database);
    await schema.createIndexes();
  });
  afterEach(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });

  const items = (): Database['models']['items']['collection'] => database.models.items.collection;

  async function pagesOf(index: string): Promise<string | undefined> {
    const [stats] = await items()
      .aggregate<{ storageStats: { indexDetails: Record<string, { creationString: string }> } }>([
        { $collStats: { storageStats: {} } },
      ])
      .toArray();
    return /leaf_page_max=(\w+)/.exec(stats?.storageStats.indexDetails[index]?.creationString ?? '')?.[1];
  }

  it('the search index has small pages', async () => {
    expect([await pagesOf(SEARCH), await pagesOf('publicId_1')]).toEqual(['4KB', '16k']);
  });

  it('a status change rewrites a key in only two indexes', async () => {
    const [item] = await store(database, record());
    await profile(database);
    await items().updateOne({ _id: item._id }, { $set: { status: 'reserved' } });
    const update = await database.connection.db?.collection('system.profile').findOne({ op: 'update' });
    expect(update).toMatchObject({ keysInserted: 2, keysDeleted: 2 });
  });

  it('an existing index keeps its storage options', async () => {
    await items().dropIndex(SEARCH);
    await items().createIndexes([{ key: LIST_INDEXES.search, partialFilterExpression: { isVisible: true } }]);
    await schema.createIndexes();
    expect(await pagesOf(SEARCH)).toBe('16k');
    expect(await schema.missingIndexes()).toEqual({ unique: [], performance: [] });
  });

  it('the search index is postponed even if another import drops it at the same time', async () => {
    const dropIndex = items().dropIndex.bind(items());
    const dropping = jest.spyOn(items(), 'dropIndex').mockImplementationOnce(async (name) => {
      await dropIndex(name);
      return dropIndex(name);
    });
    await schema.postponeSearchIndex();
    dropping.mockRestore();
    expect(await schema.isSearchIndexMissing()).toBe(true);
  });

  it('indexes that are multikey because of a document that is gone are dropped, but no others', async () => {
    expect(await schema.dropMultikeyIndexes()).toEqual({ dropped: [], kept: [] });
    const { insertedId } = await items().insertOne({ ...record(), searchTerms: null, boostScore: [0, 1] });
    await store(database, record());
    const multikey = [LIST_INDEXES.all, LIST_INDEXES.status, LIST_INDEXES.category, LIST_INDEXES.search].map(
      (fields) =>
        `items.${Object.entries(fields)
          .map((entry) => entry.join('_'))
          .join('_')}`,
    );
    expect(await schema.dropMultikeyIndexes()).toEqual({ dropped: [], kept: multikey });
    await items().deleteOne({ _id: insertedId });
    expect(await schema.dropMultikeyIndexes()).toEqual({ dropped: multikey, kept: [] });
    await schema.createIndexes();
    expect(await schema.dropMultikeyIndexes()).toEqual({ dropped: [], kept: [] });
    expect(await schema.missingIndexes()).toEqual({ unique: [], performance: [] });
  });

  it('obsolete and multikey indexes are dropped even if another setup drops them at the same time', async () => {
    const obsolete = await items().createIndexes([{ key: { slug: 1 } }]);
    const { insertedId } = await items().insertOne({ ...record(), searchTerms: null, boostScore: [0, 1] });
    await items().deleteOne({ _id: insertedId });
    const dropIndex = items().dropIndex.bind(items());
    const dropping = jest.spyOn(items(), 'dropIndex').mockImplementation(async (name) => {
      await dropIndex(name);
      return dropIndex(name);
    });
    expect((await schema.dropMultikeyIndexes()).dropped).toHaveLength(4);
    expect(await schema.dropObsoleteIndexes()).toEqual(obsolete);
    dropping.mockRestore();
    expect(await items().indexExists(obsolete)).toBe(false);
  });

  it('indexes that another setup has dropped since they were listed are skipped', async () => {
    const { insertedId } = await items().insertOne({ ...record(), searchTerms: null, boostScore: [0, 1] });
    await items().deleteOne({ _id: insertedId });
    const listIndexes = items().listIndexes.bind(items());
    const listing = jest.spyOn(items(), 'listIndexes').mockImplementationOnce(() => {
      const cursor = listIndexes();
      const toArray = cursor.toArray.bind(cursor);
      cursor.toArray = async () => {
        const listed: unknown[] = await toArray();
        await items().dropIndexes();
        return listed;
      };
      return cursor;
    });
    expect(await schema.dropMultikeyIndexes()).toEqual({ dropped: [], kept: [] });
    listing.mockRestore();
    await schema.createIndexes();
    expect(await schema.missingIndexes()).toEqual({ unique: [], performance: [] });
  });

  it('createIndexes rejects a different index with the same name', async () => {
    await items().dropIndex('publicId_1');
    await items().createIndexes([{ key: { publicId: 1 } }]);
    await expect(schema.createIndexes()).rejects.toThrow('publicId_1');
  });
});
