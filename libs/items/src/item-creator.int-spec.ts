import {
  CounterRepository,
  ItemRepository,
  MaintenanceRepository,
  newMongoId,
  ReferenceRepository,
  SchemaRepository,
  type Database,
} from '@app/database';
import { freshEnvironment, openDatabase } from '../../../test/support/environment.js';
import { insertUnreadable, UNREADABLE } from '../../../test/support/insert-bson.js';
import { profile } from '../../../test/support/profile.js';
import { validInput } from '../../../test/support/items.js';
import { SearchBackfill, type NewlyStored } from './search-backfill.js';
import { ItemCreator, type CreatedItem, type CreatedItems } from './item-creator.js';
import type { CreateRequest } from './new-item-record.js';

const COUNTER = { _id: 'item.publicId' };

describe('ItemCreator', () => {
  let database: Database;
  let creator: ItemCreator;
  const env = freshEnvironment();
  const { MONGODB_URI: uri = '' } = env;
  beforeEach(async () => {
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    creator = newCreator();
  });
  afterEach(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });

  /** As in another process: only the database is shared. */
  function newCreator(): ItemCreator {
    const items = new ItemRepository(database);
    return new ItemCreator(items, new ReferenceRepository(database), new CounterRepository(database));
  }

  const count = (): Promise<number> => database.models.items.countDocuments();

  it('createMany numbers items in the order of their requests with a single update of the counter', async () => {
    const requests = Array.from({ length: 50 }, () => request());
    const created = await creator.createMany(requests);
    const numbers = requests.map(({ id }) => itemOf(created, id).item.publicId);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(await database.models.counters.findOne(COUNTER).lean()).toEqual({ ...COUNTER, value: 50 });
    expect(await count()).toBe(50);
  });

  it('createMany stores nothing for an empty batch', async () => {
    expect(await creator.createMany([])).toEqual(new Map());
    expect(await database.models.counters.countDocuments()).toBe(0);
  });

  it('createMany stores only the first item if an id occurs twice in a batch', async () => {
    const [first, neighbour] = [request({ requestHash: 'first' }), request()];
    const created = await creator.createMany([first, neighbour, { ...first, requestHash: 'second' }]);
    expect(itemOf(created, first.id).requestHash).toBe('first');
    expect(itemOf(created, neighbour.id).requestHash).toBe('hash');
    expect(await count()).toBe(2);
  });

  it('createMany returns the stored item for an id that already exists', async () => {
    const first = request({ requestHash: 'first' });
    const [stored] = (await creator.createMany([first])).values();
    const again = await creator.createMany([request(), { ...first, requestHash: 'second' }, request()]);
    expect(itemOf(again, first.id)).toEqual(stored);
    expect(await count()).toBe(3);
  });

  it('createMany returns an error for an id whose stored item the driver cannot read, and stores the others', async () => {
    const [broken, other] = [request(), request()];
    await creator.createMany([broken]);
    const { collection } = database.models.items;
    const stored = await collection.findOneAndDelete({ publicId: 1 });
    await insertUnreadable(uri, collection.collectionName, { ...stored, photos: [UNREADABLE] });
    for (const retriedIds of [[], [broken.id]]) {
      const created = await creator.createMany([broken, { ...other, id: newMongoId() }], { retriedIds });
      expect([...created.values()].map((outcome) => outcome instanceof Error)).toEqual(
        retriedIds.length === 0 ? [false, true] : [true, false],
      );
    }
  });

  it('createMany returns the stored item for an id whose hash another service has replaced with an object', async () => {
    const [changed, other] = [request(), request()];
    await creator.createMany([changed]);
    const { collection } = database.models.items;
    await collection.updateOne({ publicId: 1 }, { $set: { requestHash: { toString: 1 } } });
    const created = await creator.createMany([changed, other]);
    expect([itemOf(created, changed.id).requestHash, itemOf(created, other.id).requestHash]).toEqual(['', 'hash']);
  });

  it('createMany stores an item without the title of a brand that the driver cannot read', async () => {
    await insertUnreadable(uri, 'brands', { _id: 7, title: UNREADABLE });
    const branded = request();
    branded.item.brandId = 7;
    const created = await creator.createMany([branded]);
    expect(itemOf(created, branded.id).item).toMatchObject({ brandId: 7, brandTitle: null });
  });

  it('createMany stores one item for an id in concurrent batches, and returns it to each of them', async () => {
    for (let round = 0; round < 5; round++) {
      const requests = Array.from({ length: 20 }, () => request());
      const before = await count();
      const batches = await Promise.all(
        [0, 1, 2].map((batch) =>
          newCreator().createMany(requests.map((one) => ({ ...one, requestHash: `batch ${String(batch)}` }))),
        ),
      );
      for (const { id } of requests) {
        const [first, ...others] = batches.map((created) => itemOf(created, id));
        for (const other of others) expect(other).toEqual(first);
      }
      expect(await count()).toBe(before + 20);
    }
  });

  it('createMany raises a lagging counter, and renumbers only the items whose numbers are taken', async () => {
    await creator.createMany(Array.from({ length: 10 }, () => request()));
    await database.models.counters.updateOne(COUNTER, { value: 7 });
    const requests = Array.from({ length: 5 }, () => request());
    const created = await creator.createMany(requests);
    const numbers = requests.map(({ id }) => itemOf(created, id).item.publicId);
    // 8, 9 and 10 were taken, 11 and 12 were not.
    expect(numbers.slice(3)).toEqual([11, 12]);
    expect(Math.min(...numbers.slice(0, 3))).toBeGreaterThan(12);
    expect(new Set(numbers).size).toBe(5);
    expect(await count()).toBe(15);
  });

  it('createMany raises a missing counter, even for concurrent batches', async () => {
    await creator.createMany(Array.from({ length: 30 }, () => request()));
    await database.models.counters.deleteMany({});
    const batches = await Promise.all(
      [0, 1, 2].map(() => newCreator().createMany(Array.from({ length: 5 }, () => request()))),
    );
    const numbers = batches.flatMap((created) => [...created.keys()].map((id) => itemOf(created, id).item.publicId));
    expect(new Set(numbers).size).toBe(15);
    expect(Math.min(...numbers)).toBeGreaterThan(30);
  });

  it('createMany returns the stored item for an existing id even if the counter lags', async () => {
    const [first, second] = [request(), request()];
    const stored = await creator.createMany([first, second]);
    await database.models.counters.updateOne(COUNTER, { value: 0 });
    const again = await creator.createMany([second, first]);
    for (const { id } of [first, second]) expect(itemOf(again, id)).toEqual(itemOf(stored, id));
    expect(await count()).toBe(2);
  });

  it('createMany stores the rest of a batch if an item cannot be stored', async () => {
    const bad = request({ photos: [{ 'a\0b': 1 }] });
    const [first, last] = [request(), request()];
    const created = await creator.createMany([first, bad, bad, last]);
    expect(created.get(bad.id)).toBeInstanceOf(Error);
    expect(itemOf(created, last.id).item.publicId).toBeGreaterThan(itemOf(created, first.id).item.publicId);
    expect(await count()).toBe(2);
  });

  it('createMany stores the rest of a batch if the fields of an item cannot be derived', async () => {
    const bad = request({ name: undefined as unknown as string });
    const [first, last] = [request(), request()];
    const created = await creator.createMany([first, bad, last]);
    expect(created.get(bad.id)).toBeInstanceOf(Error);
    expect([first, last].map(({ id }) => itemOf(created, id).item.publicId)).toEqual([1, 3]);
    expect(await count()).toBe(2);
  });

  it('createMany queries brands and conditions once per batch, whether or not they exist', async () => {
    const { brands, conditions } = database.models;
    await Promise.all([
      brands.insertMany({ _id: 1, title: 'Brand' }),
      conditions.insertMany({ _id: 2, title: 'Condition' }),
    ]);
    const requests = Array.from({ length: 60 }, (_, index) =>
      request({ brandId: index + 0.5 * (index % 2), conditionId: index === 5 ? null : index }),
    );
    const newQueries = await profile(database);
    const titles = [...(await creator.createMany([...requests, request({ brandId: 1 })])).values()].map((created) =>
      created instanceof Error ? created : [created.item.brandTitle, created.item.condition],
    );
    const queried = (await newQueries()).map(({ command }) => command.find).filter((name) => name !== 'items');
    expect(queried.sort()).toEqual(['brands', 'conditions']);
    expect(titles[2]).toEqual([null, 'Condition']);
    expect(titles[60]).toEqual(['Brand', null]);
    expect(titles.filter((found) => String(found) !== ',')).toHaveLength(2);
  });

  it('createMany finds the title of a brand as soon as it exists, and caches it', async () => {
    const titleOf = async (): Promise<unknown> => {
      const [created] = (await creator.createMany([request({ brandId: 9 })])).values();
      return created instanceof Error ? created : created?.item.brandTitle;
    };
    expect(await titleOf()).toBeNull();
    await database.models.brands.insertMany({ _id: 9, title: 'Brand' });
    expect(await titleOf()).toBe('Brand');
    await database.models.brands.deleteMany();
    expect(await titleOf()).toBe('Brand');
  });

  it('createMany treats the title of a brand that is not text as missing', async () => {
    await database.connection.collection<{ _id: number; title: unknown }>('brands').insertOne({ _id: 9, title: 5 });
    const created = await creator.createMany([request({ brandId: 9 })]);
    expect([...created.values()]).toMatchObject([{ item: { brandTitle: null } }]);
  });

  it('createMany makes an item with a very long name findable, and the rest of its batch too', async () => {
    const [longNamed, neighbour] = [request({ name: `Sofa ${'x'.repeat(15_000_000)}` }), request({ name: 'Lamp' })];
    await creator.createMany([longNamed, neighbour]);
    expect(await findable(longNamed, neighbour)).toEqual([
      expect.arrayContaining(['sofa', 'x'.repeat(200)]),
      expect.arrayContaining(['lamp']),
    ]);
  });

  it('createMany makes items findable when they are stored, or leaves that to a backfill', async () => {
    const [now, later] = [request({ name: 'Lamp' }), request({ name: 'Lamp' })];
    await creator.createMany([now]);
    await creator.createMany([later], { isFindable: false });
    expect(await findable(now, later)).toEqual([expect.arrayContaining(['lamp']), undefined]);
    const backfill = new SearchBackfill(new MaintenanceRepository(database));
    expect(await backfill.run(new Date(0))).toBe(0);
    await backfill.runFor([newlyStored(later)]);
    const [terms, laterTerms] = await findable(now, later);
    expect(laterTerms).toEqual(terms);
    expect(await backfill.run(new Date())).toBe(0);
  });

  it('createMany leaves an item to the backfill if another service changes its texts before they are indexed', async () => {
    const changed = request({ name: 'Lamp' });
    await creator.createMany([changed], { isFindable: false });
    await database.models.items.findByIdAndUpdate(changed.id, { name: 'Sofa' });
    const backfill = new SearchBackfill(new MaintenanceRepository(database));
    await backfill.runFor([newlyStored(changed)]);
    expect(await backfill.run(new Date())).toBe(1);
    expect(await findable(changed)).toEqual([expect.arrayContaining(['sofa'])]);
  });

  it('a backfill derives search terms in batches of about 8 MiB of text', async () => {
    const requests = Array.from({ length: 40 }, () => request({ description: 'lamp '.repeat(100_000) }));
    await creator.createMany(requests, { isFindable: false });
    const maintenance = new MaintenanceRepository(database);
    const sizes: number[] = [];
    for await (const batch of maintenance.findStale(1, new Date())) sizes.push(batch.length);
    expect(sizes).toEqual([17, 17, 6]);
    expect(await new SearchBackfill(maintenance).run(new Date())).toBe(40);
    expect(await new SearchBackfill(maintenance).run(new Date())).toBe(0);
  });

  async function findable(...requests: CreateRequest[]): Promise<unknown[]> {
    const stored = await Promise.all(requests.map(({ id }) => database.models.items.findById(id).lean()));
    return stored.map((item) => item?.searchTerms);
  }
});

interface Changes extends Partial<CreateRequest['item']> {
  requestHash?: string;
}

function request(changes: Changes = {}): CreateRequest {
  const { requestHash = 'hash', ...more } = changes;
  const item = { ...(validInput(more) as unknown as CreateRequest['item']), categoryId: 7 };
  return { id: newMongoId(), sellerId: 'seller', requestHash, item };
}

function newlyStored({ id, item: { name, description } }: CreateRequest): NewlyStored {
  return { id, name, description, brandTitle: null };
}

function itemOf(created: CreatedItems, id: string): CreatedItem {
  const item = created.get(id);
  if (item === undefined || item instanceof Error) throw item ?? new Error(`no outcome for ${id}`);
  return item;
}
