import { freshEnvironment, openDatabase } from '../../../../test/support/environment.js';
import { findPage } from '../../../../test/support/find-page.js';
import { addFavourites, record, store } from '../../../../test/support/items.js';
import type { Database } from '../connection/database.js';
import { ItemsTooLarge } from '../connection/find-items.js';
import { newMongoId, mongoId } from '../mongo-id.js';
import { ItemRepository } from '../item-repository.js';
import { SchemaRepository } from '../schema-repository.js';
import { idOf } from '../serialization/item-json.js';
import { FavouritesReader } from './favourites-reader.js';
import type { ItemPage } from './list-reader.js';

describe('FavouritesReader.findPage', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openDatabase(freshEnvironment());
    await new SchemaRepository(database).createIndexes();
  });
  afterAll(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });

  it('a page of favourites has an item once if its favourite moves down the list during the read', async () => {
    const sold = { status: 'sold' } as const;
    const [last, fifth, first] = [record(sold), record(sold), record(sold)];
    const favourites = await store(database, last, fifth, record(), record(), record(), first);
    await addFavourites(database, 'reader', favourites, Date.now());
    const findItems = database.findItems.bind(database);
    const reading = jest.spyOn(database, 'findItems').mockImplementationOnce(async (...query) => {
      const found = await findItems(...query);
      await database.models.favourites.updateOne({ itemId: first._id }, { createdAt: new Date(0) });
      return found;
    });
    const range = { skip: 0, limit: 4 };
    const { items } = await new FavouritesReader(database).findPage('reader', sold, range, performance.now() + 60_000);
    expect(reading.mock.calls.length).toBeGreaterThan(1);
    reading.mockRestore();
    expect(items.map(idOf)).toEqual([first, fifth, last].map(({ _id }) => _id.toHexString()));
  });

  it.each([
    // The moved one is on the second page again, at its new position.
    ['down', 'second', 500, [['first', 'second'], ['third', 'second'], ['fourth']]],
    [
      'up',
      'fourth',
      1500,
      [
        ['first', 'second'],
        ['fourth', 'third'],
      ],
    ],
  ] as const)(
    'pages of favourites neither skip nor repeat the others if a favourite moves %s during the read',
    async (...test) => {
      const [userId, moved, to, pages] = test;
      const sold = { status: 'sold' } as const;
      const [fourth, third, second, first] = [record(sold), record(sold), record(sold), record(sold)];
      const items = { first, second, third, fourth };
      const favourites = await store(database, fourth, third, record(), record(), record(), second, first);
      await addFavourites(database, userId, favourites);
      const findItems = database.findItems.bind(database);
      const reading = jest.spyOn(database, 'findItems').mockImplementationOnce(async (...query) => {
        const found = await findItems(...query);
        await database.models.favourites.updateOne({ itemId: items[moved]._id }, { createdAt: new Date(to) });
        return found;
      });
      const names = new Map(Object.entries(items).map(([name, { _id }]) => [_id.toHexString(), name]));
      const repository = new ItemRepository(database);
      const walked: unknown[] = [];
      let part: { skip: number } | { after: string } | undefined = { skip: 0 };
      while (part !== undefined) {
        const page: ItemPage | undefined = await findPage(repository, sold, { limit: 2, ...part }, userId);
        walked.push(page?.items.map((item) => names.get(idOf(item))));
        part = page?.nextAfter === undefined ? undefined : { after: page.nextAfter };
      }
      reading.mockRestore();
      expect(walked).toEqual(pages);
    },
  );

  it('a page of favourites reads no more large items than it needs if favourites before them do not match', async () => {
    const filter = { status: 'sold' } as const;
    const description = 'x'.repeat(15_000_000);
    const large = Array.from({ length: 5 }, () => record({ ...filter, description, searchTerms: [] }));
    for (const item of large) await store(database, item);
    const expected = large.map(({ _id }) => _id.toHexString()).reverse();
    for (const [others, skip, limit] of [
      [300, 0, 1],
      [300, 3, 1],
      [2, 0, 2],
      [2, 1, 2],
    ] as const) {
      const userId = `large-${String(others)}-${String(skip)}`;
      await addFavourites(database, userId, large);
      const deleted = Array.from({ length: others }, () => ({ itemId: mongoId(newMongoId()), createdAt: new Date() }));
      await database.models.favourites.insertMany(deleted.map((favourite) => ({ userId, ...favourite })));
      const deadline = performance.now() + 60_000;
      const { items } = await new FavouritesReader(database).findPage(userId, filter, { skip, limit }, deadline);
      expect([userId, ...items.map(idOf)]).toEqual([userId, ...expected.slice(skip, skip + limit)]);
    }
    await database.models.items.deleteMany(filter);
  });

  it('a page of favourites is filled with the next items if some are hidden once their ids have been read', async () => {
    const filter = { status: 'sold' } as const;
    const sold = await store(database, ...Array.from({ length: 6 }, () => record(filter)));
    const others = await store(database, ...Array.from({ length: 9 }, () => record()));
    await addFavourites(database, 'hidden', [...sold, ...others]);
    const newestFirst = sold.reverse().map(({ _id }) => _id);
    const hidden = { _id: { $in: newestFirst.slice(0, 2) } };
    const findItems = database.findItems.bind(database);
    const reading = jest.spyOn(database, 'findItems').mockImplementation(async (query, ...limits) => {
      const areIds = Object.keys(query.projection).join() === '_id';
      const { $in: ids } = query.filter['_id'] as { $in: unknown[] };
      if (!areIds && ids.length > 3) throw new ItemsTooLarge();
      const found = await findItems(query, ...limits);
      if (areIds) await database.models.items.updateMany(hidden, { isVisible: false });
      return found;
    });
    const range = { skip: 0, limit: 2 };
    const page = await new FavouritesReader(database).findPage('hidden', filter, range, performance.now() + 60_000);
    reading.mockRestore();
    expect(page.items.map(idOf)).toEqual(newestFirst.slice(2, 4).map((id) => id.toHexString()));
    expect(page.nextAfter).toBeDefined();
    expect(await database.models.items.countDocuments({ ...hidden, isVisible: false })).toBe(2);
  });

  it.each([
    [0, 1],
    [2, 2],
  ])(
    'a page of favourites reads items by one query, and ids of those before it by another: skip %i',
    async (skip, queries) => {
      const userId = `all-${String(skip)}`;
      await addFavourites(database, userId, await store(database, ...Array.from({ length: 6 }, () => record())));
      const reading = jest.spyOn(database, 'findItems');
      const range = { skip, limit: 3 };
      const { items } = await new FavouritesReader(database).findPage(userId, {}, range, performance.now() + 60_000);
      expect(items).toHaveLength(3);
      expect(reading).toHaveBeenCalledTimes(queries);
      reading.mockRestore();
    },
  );

  it('favourites with an array in place of a date do not count, by number or after a cursor', async () => {
    const userId = 'full';
    const stored = await store(database, record(), record(), record());
    const { collection } = database.models.favourites;
    const favourite = (time: number): object => ({ userId, itemId: mongoId(newMongoId()), createdAt: new Date(time) });
    await addFavourites(database, userId, stored);
    // With these, 5,000 favourites count.
    await collection.insertMany(Array.from({ length: 4997 }, (_, n) => favourite(10_000_000 + n)));
    const arrays = Array.from({ length: 5 }, (_, n) => ({ ...favourite(0), createdAt: [new Date(20_000_000 + n)] }));
    await collection.insertMany(arrays, { bypassDocumentValidation: true });
    const repository = new ItemRepository(database);
    const walked: string[] = [];
    let part: { skip: number } | { after: string } | undefined = { skip: 0 };
    while (part !== undefined) {
      const page: ItemPage | undefined = await findPage(repository, {}, { limit: 1, ...part }, userId);
      walked.push(...(page?.items ?? []).map(idOf));
      part = page?.nextAfter === undefined ? undefined : { after: page.nextAfter };
    }
    expect(walked).toEqual(stored.map(({ _id }) => _id.toHexString()).reverse());
  });

  it('a page of favourites takes two queries for positions however many have an array in place of a date', async () => {
    const userId = 'many';
    const [stored] = await store(database, record());
    await addFavourites(database, userId, [stored]);
    const arrays = Array.from({ length: 3000 }, (_, n) => ({
      userId,
      itemId: mongoId(newMongoId()),
      createdAt: [new Date(20_000_000 + n)],
    }));
    await database.models.favourites.collection.insertMany(arrays, { bypassDocumentValidation: true });
    const reading = jest.spyOn(database, 'readAll');
    const page = await findPage(new ItemRepository(database), {}, { skip: 0, limit: 10 }, userId);
    expect(reading).toHaveBeenCalledTimes(2);
    reading.mockRestore();
    expect(page?.items.map(idOf)).toEqual([stored._id.toHexString()]);
  });

  it('a page of favourites misses none if favourites without a position are deleted during the read', async () => {
    const userId = 'deleted';
    const stored = await store(database, record(), record());
    await addFavourites(database, userId, stored);
    const { collection } = database.models.favourites;
    const arrays = [3, 4].map((time) => ({ userId, itemId: mongoId(newMongoId()), createdAt: [new Date(time * 1e6)] }));
    await collection.insertMany(arrays, { bypassDocumentValidation: true });
    const readAll = database.readAll.bind(database) as (...query: unknown[]) => Promise<unknown[]>;
    const reading = jest.spyOn(database, 'readAll').mockImplementationOnce(async (...query) => {
      const found = await readAll(...query);
      await collection.deleteOne({ userId, itemId: arrays[0]?.itemId });
      return found;
    });
    const page = await findPage(new ItemRepository(database), {}, { skip: 0, limit: 1 }, userId);
    reading.mockRestore();
    expect(page?.items.map(idOf)).toEqual([stored[1]._id.toHexString()]);
  });
});
