import { freshEnvironment, openDatabase } from '../../../../test/support/environment.js';
import { addFavourites, record, store } from '../../../../test/support/items.js';
import type { Database } from '../connection/database.js';
import { ItemRepository } from '../item-repository.js';
import { SchemaRepository } from '../schema-repository.js';
import { idOf } from '../serialization/item-json.js';
import { FavouritesReader } from './favourites-reader.js';

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

  it('returns an item once if its favourite moves down the list during the read', async () => {
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
  ] as const)('neither skips nor repeats the others if a favourite moves %s during the read', async (...test) => {
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
      const request = { limit: 2, ...part };
      const page = await repository.findFavouritesPage(userId, sold, request, performance.now() + 60_000);
      walked.push(page?.items.map((item) => names.get(idOf(item))));
      part = page?.nextAfter === undefined ? undefined : { after: page.nextAfter };
    }
    reading.mockRestore();
    expect(walked).toEqual(pages);
  });
});
