import type { Item } from '@app/contracts';
import { newMongoId, mongoId } from '@app/database';
import { mongo } from 'mongoose';
import { insertUnreadable, UNREADABLE } from './support/insert-bson.js';
import { addFavourites, record, store } from './support/items.js';
import { startService, type Service } from './support/service.js';
import { walk } from './support/walk.js';

describe("getAll of a user's favourites", () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const publicIds = async (input: object): Promise<number[]> =>
    (await service.api.getAll(input)).map(({ publicId }) => publicId);

  it('getAll returns only the favourites of the user, the most recently added first', async () => {
    const [a, b, c] = await store(service.database, record(), record(), record());
    await addFavourites(service.database, 'ann', [b, a]);
    await addFavourites(service.database, 'bob', [c]);
    expect(await publicIds({ userId: 'ann' })).toEqual([a.publicId, b.publicId]);
    expect(await publicIds({ userId: 'nobody' })).toEqual([]);
    expect(await publicIds({ userId: '' })).toEqual([]);
  });

  it('getAll orders favourites added at the same time by item id, descending', async () => {
    const stored = await store(service.database, record(), record(), record());
    const createdAt = new Date();
    await service.database.models.favourites.insertMany(
      stored.map(({ _id }) => ({ userId: 'tie', itemId: _id, createdAt })),
    );
    const items = await service.api.getAll({ userId: 'tie' });
    expect(items.map(({ id }) => id)).toEqual(
      stored
        .map(({ _id }) => _id.toHexString())
        .sort()
        .reverse(),
    );
  });

  it('a list ends at favourites whose date is too early for a cursor', async () => {
    const [tooEarly, older, newer] = await store(service.database, record(), record(), record());
    await addFavourites(service.database, 'early', [tooEarly, older, newer]);
    const early = { itemId: tooEarly._id };
    const date = { $toDate: mongo.Long.fromString('-9000000000000000') };
    await service.database.models.favourites.collection.updateMany(early, [{ $set: { createdAt: date } }]);
    const walked = await walk(service.api, { userId: 'early', pageSize: 1 });
    expect(walked.map(({ publicId }) => publicId)).toEqual([newer.publicId, older.publicId]);
  });

  it('a walk returns all favourites among thousands that another service has stored without an ObjectId', async () => {
    const stored = await store(service.database, record(), record(), record());
    await addFavourites(service.database, 'texts', stored);
    const { collection } = service.database.models.favourites;
    await collection.insertMany(
      Array.from({ length: 5000 }, () => ({ userId: 'texts', itemId: newMongoId(), createdAt: new Date() })),
    );
    const walked = await walk(service.api, { userId: 'texts', pageSize: 1 });
    expect(walked.map(({ publicId }) => publicId)).toEqual(await publicIds({ userId: 'texts' }));
    expect(walked).toHaveLength(stored.length);
  });

  it('getAll applies the other filters to favourites', async () => {
    const [sold, blue, hidden, other] = await store(
      service.database,
      record({ status: 'sold' }),
      record({ name: 'Blue kettle', categoryId: 9 }),
      record({ isVisible: false }),
      record({ name: 'Blue bike' }),
    );
    await addFavourites(service.database, 'filters', [sold, blue, hidden, other]);
    expect(await publicIds({ userId: 'filters' })).toEqual([other.publicId, blue.publicId, sold.publicId]);
    expect(await publicIds({ userId: 'filters', status: 'sold' })).toEqual([sold.publicId]);
    expect(await publicIds({ userId: 'filters', search: 'blue' })).toEqual([other.publicId, blue.publicId]);
    expect(await publicIds({ userId: 'filters', search: 'blue', categoryId: '9' })).toEqual([blue.publicId]);
  });

  it('getAll returns favourites page by page', async () => {
    const stored = await store(service.database, ...Array.from({ length: 5 }, () => record()));
    await addFavourites(service.database, 'pages', stored);
    const newestFirst = stored.map(({ publicId }) => publicId).reverse();
    expect(await publicIds({ userId: 'pages', pageSize: 2 })).toEqual(newestFirst.slice(0, 2));
    expect(await publicIds({ userId: 'pages', pageSize: 2, page: 3 })).toEqual(newestFirst.slice(4));
    expect(await publicIds({ userId: 'pages', pageSize: 2, page: 4 })).toEqual([]);
  });

  it('getAll considers only the newest 5,000 favourites, including those of deleted items', async () => {
    const [old, newest] = await store(service.database, record(), record());
    await addFavourites(service.database, 'many', [old]);
    const deleted = Array.from({ length: 4999 }, (_, index) => ({
      userId: 'many',
      itemId: mongoId(newMongoId()),
      createdAt: new Date(10_000 + index),
    }));
    await service.database.models.favourites.insertMany(deleted);
    expect(await publicIds({ userId: 'many' })).toEqual([old.publicId]);
    await addFavourites(service.database, 'many', [newest], 1_000_000);
    expect(await publicIds({ userId: 'many' })).toEqual([newest.publicId]);
  });

  it('getAll reaches every favourite by page number and by cursor, however many deleted ones lie in between', async () => {
    const positions = [0, 1, 49, 499, 500, 501, 1200, 4999, 5000];
    const stored = await store(service.database, ...positions.map(() => record()));
    const deleted = Array.from({ length: 5100 }, () => mongoId(newMongoId()));
    stored.forEach(({ _id }, index) => (deleted[positions[index] ?? 0] = _id));
    await service.database.models.favourites.collection.insertMany(
      deleted.map((itemId, index) => ({ userId: 'far', itemId, createdAt: new Date(1e9 - Math.floor(index / 700)) })),
    );
    const counted = new Set(
      (await service.database.models.favourites.find({ userId: 'far' }).sort({ createdAt: -1, itemId: -1 }).lean())
        .slice(0, 5000)
        .map(({ itemId }) => itemId.toHexString()),
    );
    const all = await service.api.getAll({ userId: 'far', pageSize: 50 });
    const ids = all.map(({ id }) => id);
    expect(new Set(ids)).toEqual(new Set(stored.map(({ _id }) => _id.toHexString()).filter((id) => counted.has(id))));
    for (const pageSize of [1, 3]) {
      const walked = await walk(service.api, { userId: 'far', pageSize });
      expect(walked.map(({ id }) => id)).toEqual(ids);
      const numbered: Item[] = [];
      // One after the other, because few of these pages are read at a time.
      for (let page = 1; page <= 9; page++)
        numbered.push(...(await service.api.getAll({ userId: 'far', pageSize, page })));
      expect(numbered.map(({ id }) => id)).toEqual(ids);
    }
  });

  it('a favourite is stored only once', async () => {
    const [item] = await store(service.database, record());
    await addFavourites(service.database, 'twice', [item]);
    await expect(addFavourites(service.database, 'twice', [item])).rejects.toMatchObject({ code: 11000 });
  });

  // The last test, because arrays make an index multikey, and reads of many favourites slow.
  it('favourites with an array in place of an item or a date are left out, and all others returned', async () => {
    const [oldest, older, newer, newest] = await store(service.database, record(), record(), record(), record());
    const others = await store(service.database, record(), record(), record());
    await addFavourites(service.database, 'arrays', [oldest, older, newer, newest]);
    const { collection } = service.database.models.favourites;
    // Such a favourite is between all others: one element is before their dates, another one after them.
    const createdAt = [new Date(0), new Date('2999-01-01')];
    await collection.insertMany([
      ...others.map(({ _id }) => ({ userId: 'arrays', itemId: _id, createdAt })),
      { userId: 'arrays', itemId: [new mongo.ObjectId(), new mongo.ObjectId()], createdAt: new Date() },
    ]);
    const unreadable = { userId: 'arrays', itemId: new mongo.ObjectId(), createdAt: [...createdAt, UNREADABLE] };
    await insertUnreadable(service.env['MONGODB_URI'] ?? '', 'favourites', unreadable);
    const expected = [newest, newer, older, oldest].map(({ publicId }) => publicId);
    expect(await publicIds({ userId: 'arrays' })).toEqual(expected);
    expect(await publicIds({ userId: 'arrays', page: 2, pageSize: 1 })).toEqual([newer.publicId]);
    expect(await publicIds({ userId: 'arrays', after: newer._id.toHexString() })).toEqual(expected.slice(2));
    for (const pageSize of [1, 2, 3]) {
      const walked = await walk(service.api, { userId: 'arrays', pageSize });
      expect(walked.map(({ publicId }) => publicId)).toEqual(expected);
    }
  });
});
