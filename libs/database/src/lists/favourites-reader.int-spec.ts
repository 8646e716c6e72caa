import { freshEnvironment, openDatabase } from '../../../../test/support/environment.js';
import { addFavourites, record, store } from '../../../../test/support/items.js';
import type { Database } from '../database.js';
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
});
