import { freshEnvironment, openDatabase } from '../../../test/support/environment.js';
import { record, store } from '../../../test/support/items.js';
import type { Database } from './connection/database.js';
import type { FirstItems } from './connection/find-items.js';
import { ItemRepository } from './item-repository.js';
import { newMongoId } from './mongo-id.js';
import { idOf } from './serialization/item-json.js';

describe('ItemRepository', () => {
  let database: Database;
  let items: ItemRepository;
  beforeAll(async () => {
    database = await openDatabase(freshEnvironment());
    items = new ItemRepository(database);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });

  const storeLarge = async (count: number): Promise<string[]> => {
    const large = Array.from({ length: count }, () => record({ description: 'x'.repeat(7_000_000) }));
    for (const item of large) await store(database, item);
    return large.map(({ _id }) => _id.toHexString());
  };
  const find = async (ids: string[]): Promise<(string | undefined)[]> => {
    const found = await Promise.all(ids.map((id) => items.findById(id, performance.now() + 60_000)));
    return found.map((item) => item && idOf(item));
  };

  it('findById reads large items that are requested at the same time with queries of at most 16 MB', async () => {
    const ids = await storeLarge(5);
    const findFirstItems = jest.spyOn(database, 'findFirstItems');
    expect(await find(ids)).toEqual(ids);
    const queries = await Promise.all(findFirstItems.mock.results.map(({ value }) => value as Promise<FirstItems>));
    expect(queries.map((query) => query.items.length)).toEqual([2, 2, 1]);
  });

  it('findStored reads large items with queries of at most 16 MB', async () => {
    const ids = await storeLarge(5);
    const findFirstItems = jest.spyOn(database, 'findFirstItems');
    const found = await items.findStored(ids, performance.now() + 60_000);
    expect(found.map(({ id }) => id)).toEqual(ids);
    expect(findFirstItems).toHaveBeenCalledTimes(3);
  });

  it('findById returns undefined for an item that does not exist beside large ones', async () => {
    const ids = await storeLarge(3);
    expect(await find([newMongoId(), ...ids])).toEqual([undefined, ...ids]);
  });
});
