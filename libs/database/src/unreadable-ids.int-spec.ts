import { freshEnvironment, openDatabase } from '../../../test/support/environment.js';
import { insertUnreadable, UNREADABLE } from '../../../test/support/insert-bson.js';
import { record } from '../../../test/support/items.js';
import { CatalogueRepository } from './catalogue-repository.js';
import type { Database } from './connection/database.js';
import { CounterRepository } from './counter-repository.js';
import { SchemaRepository } from './schema-repository.js';

describe('an item whose id the driver cannot read', () => {
  let env: NodeJS.ProcessEnv;
  let database: Database;
  beforeEach(async () => {
    env = freshEnvironment();
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
  });
  afterEach(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });

  const insert = (changes: object): Promise<void> =>
    insertUnreadable(env['MONGODB_URI'] ?? '', 'items', { ...record(), ...changes, _id: UNREADABLE });

  it('the sequence is raised to the number of an item whose id the driver cannot read', async () => {
    await insert({ publicId: 7 });
    expect(await new CounterRepository(database).raiseToHighestStored()).toBe(7);
  });

  it('a catalogue with an item whose id the driver cannot read is not empty', async () => {
    const catalogue = new CatalogueRepository(database);
    expect(await catalogue.isEmpty()).toBe(true);
    await insert({});
    expect(await catalogue.isEmpty()).toBe(false);
  });

  it('the search index is not postponed if there is an item, even if the driver cannot read its id', async () => {
    await insert({});
    const schema = new SchemaRepository(database);
    await schema.postponeSearchIndex();
    expect(await schema.isSearchIndexMissing()).toBe(false);
  });

  it('an index is kept if an item has an array in it, even if the driver cannot read its id', async () => {
    await insert({ boostScore: [0, 1], searchTerms: null });
    const { dropped, kept } = await new SchemaRepository(database).dropMultikeyIndexes();
    expect([dropped, kept.length]).toEqual([[], 4]);
  });
});
