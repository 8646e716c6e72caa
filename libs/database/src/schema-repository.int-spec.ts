import { record, store } from '../../../test/support/items.js';
import { profile } from '../../../test/support/profile.js';
import { freshEnvironment, openDatabase } from '../../../test/support/service.js';
import type { Database } from './database.js';
import { LIST_INDEXES } from './models.js';
import { SchemaRepository } from './schema-repository.js';

const SEARCH = 'searchTerms_1_isVisible_1_isBoosted_-1_boostScore_-1_createdAt_-1_publicId_-1';

describe('creating indexes', () => {
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

  it('gives search, of which an item changes many pages, small ones', async () => {
    expect([await pagesOf(SEARCH), await pagesOf('publicId_1')]).toEqual(['4KB', '16k']);
  });

  it('has a status change rewrite a key of two indexes only', async () => {
    const [item] = await store(database, record());
    await profile(database);
    await items().updateOne({ _id: item._id }, { $set: { status: 'reserved' } });
    const update = await database.connection.db?.collection('system.profile').findOne({ op: 'update' });
    expect(update).toMatchObject({ keysInserted: 2, keysDeleted: 2 });
  });

  it('leaves an index that is there as it is stored', async () => {
    await items().dropIndex(SEARCH);
    await items().createIndexes([{ key: LIST_INDEXES.search, partialFilterExpression: { isVisible: true } }]);
    await schema.createIndexes();
    expect(await pagesOf(SEARCH)).toBe('16k');
    expect(await schema.missingIndexes()).toEqual({ unique: [], performance: [] });
  });

  it('refuses another index of the same name', async () => {
    await items().dropIndex('publicId_1');
    await items().createIndexes([{ key: { publicId: 1 } }]);
    await expect(schema.createIndexes()).rejects.toThrow('publicId_1');
  });
});
