import { mongo } from 'mongoose';
import { freshEnvironment, openDatabase } from '../../../test/support/environment.js';
import { record } from '../../../test/support/items.js';
import { isDatabaseUnavailable } from './connection/database-errors.js';
import type { Database } from './connection/database.js';
import { insertEach, type InsertFailure } from './insert-each.js';
import { ItemRepository } from './item-repository.js';
import type { ItemRecord } from './item-record.js';
import { SchemaRepository } from './schema-repository.js';

/** Far more than the largest body can become, and more than MongoDB accepts. */
const TOO_LARGE = 'x'.repeat(17 * 1024 * 1024);

describe('ItemRepository.insertMany', () => {
  let database: Database;
  let items: ItemRepository;
  beforeAll(async () => {
    database = await openDatabase(freshEnvironment());
    await new SchemaRepository(database).createIndexes();
    items = new ItemRepository(database);
  });
  afterAll(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });

  const good = (count: number): ItemRecord[] => Array.from({ length: count }, () => record());
  const soon = (): number => performance.now() + 60_000;
  const storedOf = async (records: ItemRecord[]): Promise<boolean[]> => {
    const stored = await items.findStored(
      records.map(({ _id }) => _id.toHexString()),
      soon(),
    );
    const ids = new Set(stored.map(({ id }) => id));
    return records.map(({ _id }) => ids.has(_id.toHexString()));
  };
  const summary = (failures: InsertFailure[]): [number, string | undefined][] =>
    failures.map(({ index, taken }): [number, string | undefined] => [index, taken]).sort(([a], [b]) => a - b);

  it('insertMany stores all items if all are valid', async () => {
    const records = good(100);
    expect(await items.insertMany(records)).toEqual([]);
    expect(await storedOf(records)).toEqual(records.map(() => true));
  });

  it('insertMany accepts an empty batch', async () => {
    expect(await items.insertMany([])).toEqual([]);
  });

  describe.each<[string, () => ItemRecord]>([
    ['a _bsontype key', () => record({ photos: [{ _bsontype: 'ObjectId' }] })],
    ['an unknown _bsontype', () => record({ photos: [{ _bsontype: 'Nonsense' }] })],
    ['nesting over 190 levels', () => record({ photos: [nested(190)] })],
    ['nesting far over what the stack holds', () => record({ photos: [nested(50_000)] })],
    ['a NUL in a key', () => record({ photos: [{ 'a\0b': 1 }] })],
    ['more than 16 MiB', () => ({ ...record(), description: TOO_LARGE })],
  ])('an item with %s', (_what, bad) => {
    it.each([0, 4, 9])('an invalid item at index %i does not affect the other nine items', async (place) => {
      const records = good(10);
      records[place] = bad();
      const failures = await items.insertMany(records);
      expect(summary(failures)).toEqual([[place, undefined]]);
      expect(failures[0]?.error.message).toMatch(/./);
      expect(isDatabaseUnavailable(failures[0]?.error)).toBe(false);
      expect(await storedOf(records)).toEqual(records.map((_, index) => index !== place));
    });
  });

  it('insertMany does not take a name for that of an index, if an index of another service rejects the name', async () => {
    const { collection } = database.models.items;
    const some = { unique: true, partialFilterExpression: { name: { $gt: 'zz' } } };
    await collection.createIndex({ name: 1 }, some, {});
    const records = [record({ name: 'zzz index: _id_ dup key' }), record({ name: 'zzz index: _id_ dup key' })];
    expect(summary(await items.insertMany(records))).toEqual([[1, undefined]]);
    await collection.dropIndex('name_1');
  });

  it('insertMany rejects each of several invalid items, and stores the others', async () => {
    const records = good(9);
    const [first] = good(1);
    if (first === undefined) throw new Error('no record');
    await items.insertMany([first]);
    records[0] = record({ photos: [{ _bsontype: 'x' }] });
    records[1] = record({ photos: [nested(200)] });
    records[5] = { ...record(), _id: first._id };
    records[6] = record({ publicId: first.publicId });
    records[8] = record({ photos: [{ 'a\0b': 1 }] });
    expect(summary(await items.insertMany(records))).toEqual([
      [0, undefined],
      [1, undefined],
      [5, '_id'],
      [6, 'publicId'],
      [8, undefined],
    ]);
    expect(await storedOf([...records.slice(2, 5), ...records.slice(7, 8)])).toEqual([true, true, true, true]);
  });

  it('insertMany distinguishes a taken _id from a taken publicId, whatever the documents contain', async () => {
    const name = ' index: _id_ dup key: { _id: 1 }';
    const [stored, other] = [record(), record()];
    await items.insertMany([stored, other]);
    const records = [
      { ...record({ name }), _id: stored._id },
      record({ name, publicId: stored.publicId }),
      { ...record({ name, publicId: other.publicId }), _id: stored._id },
    ];
    const failures = await items.insertMany(records);
    expect(summary(failures).slice(0, 2)).toEqual([
      [0, '_id'],
      [1, 'publicId'],
    ]);
    expect(failures).toHaveLength(3);
    for (const { error } of failures) expect(error.message).toContain('E11000');
  });

  it('insertMany stores the first of two items with the same _id', async () => {
    const first = record({ name: 'The first' });
    const second = { ...record({ name: 'The second' }), _id: first._id };
    expect(summary(await items.insertMany([first, second]))).toEqual([[1, '_id']]);
    expect((await items.findStored([first._id.toHexString()], soon()))[0]?.item?.name).toBe('The first');
  });

  it('insertMany stores the items that the validator of the collection accepts', async () => {
    const validate = (validator: object): Promise<unknown> =>
      Promise.resolve(database.connection.db?.command({ collMod: 'items', validator }));
    await validate({ name: { $ne: 'Refused' } });
    const records = good(5);
    records[2] = record({ name: 'Refused' });
    const failures = await items.insertMany(records);
    await validate({});
    expect(summary(failures)).toEqual([[2, undefined]]);
    expect(failures[0]?.error.message).toBe('Document failed validation');
    expect(await storedOf(records)).toEqual([true, true, false, true, true]);
  });

  it('insertMany stores more items than fit into one message, and rejects only an invalid one', async () => {
    const records = Array.from({ length: 8 }, () => ({ ...record(), description: 'x'.repeat(9_000_000) }));
    records[6] = record({ photos: [nested(200)] });
    const failures = await items.insertMany(records);
    // Items that an earlier message has stored are reported as taken.
    const failed = summary(failures).filter(([, taken]) => taken !== '_id');
    expect(failed).toEqual([[6, undefined]]);
    expect(await storedOf(records)).toEqual(records.map((_, index) => index !== 6));
  });

  it.each([1, 3])(
    'insertMany reports MongoDB as unavailable if a batch of %i is stored but not acknowledged',
    async (count) => {
      const records = good(count);
      const writeConcern = { w: 3, wtimeoutMS: 50 };
      const { collection } = database.models.items;
      const error: unknown = await insertEach(records, (batch) =>
        collection.insertMany([...batch], { ordered: false, writeConcern }),
      ).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(mongo.MongoError);
      expect(isDatabaseUnavailable(error)).toBe(true);
    },
  );

  it('insertMany reports MongoDB as unavailable even if some of an unacknowledged batch were rejected', async () => {
    const [stored, fresh] = [record(), record()];
    await items.insertMany([stored]);
    const { collection } = database.models.items;
    const error: unknown = await insertEach([stored, fresh], (batch) =>
      collection.insertMany([...batch], { ordered: false, writeConcern: { w: 3, wtimeoutMS: 50 } }),
    ).catch((thrown: unknown) => thrown);
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  it('insertMany reports MongoDB as unavailable if there is no connection', async () => {
    const closed = await openDatabase(freshEnvironment());
    await closed.close();
    const error: unknown = await new ItemRepository(closed).insertMany(good(3)).catch((thrown: unknown) => thrown);
    expect(isDatabaseUnavailable(error)).toBe(true);
  });
});

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}
