import { inListOrder, isListed, record } from '../../../test/support/items.js';
import { profile, type ProfiledQuery } from '../../../test/support/profile.js';
import { freshEnvironment, openDatabase } from '../../../test/support/service.js';
import type { Database } from './database.js';
import { idOf } from './item-json.js';
import type { ItemRecord } from './item-record.js';
import { ItemRepository } from './item-repository.js';
import type { ItemFilter } from './list-query.js';
import { SchemaRepository } from './schema-repository.js';

const ITEMS = 1600;
const LIMIT = 20;
const FILTERS: ItemFilter[] = [
  {},
  { status: 'available' },
  { categoryId: 1 },
  { status: 'available', categoryId: 1 },
  { terms: ['bike'] },
];
/** Pages whose beginnings lie near each other, and far. */
const SKIPS = [500, 520, 690, 1100, 1101, 3000];

jest.setTimeout(120_000);

function numbered(n: number): ItemRecord {
  const isBoosted = n % 300 === 0;
  return record({
    publicId: n,
    slug: `thing-${String(n)}`,
    searchTerms: n % 10 === 0 ? ['car'] : ['bike'],
    isBoosted,
    boostScore: isBoosted ? n % 7 : 0,
    // Several of each moment.
    createdAt: new Date(Date.UTC(2026, 0, 1) + Math.floor(n / 3) * 1000),
    isVisible: n % 25 !== 3,
    status: n % 9 === 0 ? 'sold' : 'available',
    categoryId: n % 8 === 0 ? 2 : 1,
  });
}

/** Where the index has a status before the order of lists, and the list has all of them, it is several runs. */
const IN_ONE_RUN: ItemFilter[] = [
  {},
  { status: 'available' },
  { status: 'available', categoryId: 1 },
  { terms: ['bike'] },
];

describe('pages far into a list', () => {
  let database: Database;
  let items: ItemRepository;
  let newQueries: () => Promise<ProfiledQuery[]>;
  /** What is stored, as the test itself keeps it. */
  let stored: ItemRecord[];
  beforeEach(async () => {
    database = await openDatabase(freshEnvironment());
    await new SchemaRepository(database).createIndexes();
    items = new ItemRepository(database);
    stored = Array.from({ length: ITEMS }, (_, n) => numbered(n));
    await database.models.items.collection.insertMany(stored);
    newQueries = await profile(database);
  });
  afterEach(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });

  const create = async (...created: ItemRecord[]): Promise<void> => {
    stored.push(...created);
    await database.models.items.collection.insertMany(created);
  };
  const change = async (publicId: number, changes: Partial<ItemRecord>): Promise<void> => {
    stored = stored.map((item) => (item.publicId === publicId ? { ...item, ...changes } : item));
    await database.models.items.collection.updateOne({ publicId }, { $set: changes });
  };
  const idsOf = async (filter: ItemFilter, skip: number): Promise<number[]> => {
    const page = await items.findPage(filter, { skip, limit: LIMIT });
    const found = page.map((raw) => idOf(raw));
    return found.map((id) => stored.find(({ _id }) => _id.toHexString() === id)?.publicId ?? -1);
  };
  /** Asks for all pages, and again as soon as their ranks are known. */
  const expectRightPages = async (what: string): Promise<void> => {
    for (const filter of [...FILTERS, ...FILTERS]) {
      const list = stored.filter((item) => isListed(filter, item)).sort(inListOrder);
      for (const skip of SKIPS) {
        const expected = list.slice(skip, skip + LIMIT).map(({ publicId }) => publicId);
        expect({ what, filter, skip, ids: await idsOf(filter, skip) }).toEqual({ what, filter, skip, ids: expected });
      }
    }
  };
  const keysFor = async (filter: ItemFilter, skip: number): Promise<number> => {
    await newQueries();
    await idsOf(filter, skip);
    return (await newQueries()).reduce((sum, { keysExamined }) => sum + keysExamined, 0);
  };

  it('hold what is there at that moment, whatever has happened since the last one', async () => {
    await expectRightPages('at first');
    const newest = new Date(Date.UTC(2026, 5, 1));
    await create({ ...numbered(2001), createdAt: newest });
    await expectRightPages('one created');
    await create(...Array.from({ length: 280 }, (_, n) => ({ ...numbered(2100 + n), createdAt: newest })));
    await expectRightPages('more created than a known rank is before its page');
    await create({ ...numbered(2003), isVisible: false }, { ...numbered(2700), isBoosted: true, boostScore: 3 });
    await create({ ...numbered(2004), createdAt: new Date(0) }, { ...numbered(2009), createdAt: newest });
    await expectRightPages('some hidden, boosted, old and sold ones created');
    await change(1414, { status: 'reserved' });
    await expectRightPages('a status changed');
    await change(1405, { isBoosted: true, boostScore: 9 });
    await expectRightPages('one boosted');
    await change(1406, { isVisible: false });
    await expectRightPages('one hidden');
    await change(1407, { categoryId: 2 });
    await expectRightPages('one in another category');
    await change(1410, { createdAt: new Date(0), viewCount: 5 });
    await expectRightPages('one made older');
    await change(1411, { favouriteCount: 7 });
    await expectRightPages('one that somebody likes');
    stored = stored.filter(({ publicId }) => publicId !== 1412);
    await database.models.items.collection.deleteOne({ publicId: 1412 });
    await expectRightPages('one deleted');
    const other = { ...numbered(1413), createdAt: newest };
    stored = stored.map((item) => (item.publicId === 1413 ? { ...other, _id: item._id } : item));
    const { _id, ...fields } = other;
    await database.models.items.collection.replaceOne({ publicId: 1413 }, fields);
    await expectRightPages(`one replaced, not ${_id.toHexString()}`);
    await create(...Array.from({ length: 600 }, (_, n) => ({ ...numbered(3000 + n), createdAt: newest })));
    await expectRightPages('more created than is followed');
  });

  it.each(IN_ONE_RUN)(
    'are read behind an item in one go, where the list is one run of its index: %j',
    async (filter) => {
      const list = stored.filter((item) => isListed(filter, item)).sort(inListOrder);
      const lastBoosted = Math.max(0, list.filter(({ isBoosted }) => isBoosted).length - 1);
      for (const index of [700, lastBoosted]) {
        const [after] = list.slice(index);
        await newQueries();
        const page = await items.findPage(filter, { after: after as ItemRecord, limit: LIMIT });
        const [query, ...others] = await newQueries();
        expect(page.map((raw) => idOf(raw))).toEqual(
          list.slice(index + 1, index + 1 + LIMIT).map(({ _id }) => _id.toHexString()),
        );
        expect(others).toEqual([]);
        expect([query?.keysExamined, query?.docsExamined]).toEqual([LIMIT, LIMIT]);
      }
    },
  );

  it('are not counted from the beginning again and again', async () => {
    const first = await keysFor({}, 1400);
    expect(first).toBeGreaterThan(1400);
    expect(await keysFor({}, 1400)).toBeLessThan(400);
    await create({ ...numbered(2001), createdAt: new Date(Date.UTC(2026, 5, 1)) });
    expect(await keysFor({}, 1400)).toBeLessThan(400);
    expect(await keysFor({}, 1500)).toBeLessThan(500);
  });

  const update = (publicId: number, changes: object): Promise<unknown> =>
    database.models.items.collection.updateOne({ publicId }, changes);

  it('stay known when something changes that no list depends on', async () => {
    await keysFor({}, 1400);
    await update(7, { $set: { searchTerms: ['bike', 'red'], favouriteCount: 3, 'photos.0': { url: 'x' } } });
    await update(8, { $unset: { searchVersion: '' }, $inc: { viewCount: 1 } });
    expect(await keysFor({}, 1400)).toBeLessThan(400);
  });

  it.each<[string, object]>([
    ['inside of a field', { $set: { 'status.0': 'sold' } }],
    ['by a shorter array', [{ $set: { status: { $slice: ['$status', 1] } } }]],
    ['of a field that is taken away', { $unset: { boostScore: '' } }],
  ])('are counted anew after a change %s', async (_, changes) => {
    const item: Partial<ItemRecord> = numbered(2001);
    // One index cannot hold two arrays.
    delete item.searchTerms;
    await database.models.items.collection.insertOne({
      ...item,
      status: Array.from({ length: 50 }, () => 'available'),
    });
    await keysFor({ categoryId: 1, status: 'available' }, 1000);
    expect(await keysFor({ categoryId: 1, status: 'available' }, 1000)).toBeLessThan(400);
    await update(2001, changes);
    expect(await keysFor({ categoryId: 1, status: 'available' }, 1000)).toBeGreaterThan(1000);
  });

  it('are counted anew from another primary, which may know of less', async () => {
    await keysFor({}, 1400);
    const change = (before: string, now: string): void => {
      const descriptions = { previousDescription: { type: before }, newDescription: { type: now } };
      database.connection.getClient().emit('serverDescriptionChanged', descriptions as never);
    };
    change('RSPrimary', 'RSPrimary');
    change('RSSecondary', 'Unknown');
    expect(await keysFor({}, 1400)).toBeLessThan(400);
    change('RSPrimary', 'RSSecondary');
    expect(await keysFor({}, 1400)).toBeGreaterThan(1400);
    expect(await keysFor({}, 1400)).toBeGreaterThan(1400);
    expect(await keysFor({}, 1400)).toBeLessThan(400);
  });

  it('are counted anew when nobody has asked for long', async () => {
    await keysFor({}, 1400);
    const now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now + 11_000);
    expect(await keysFor({}, 1400)).toBeGreaterThan(1400);
    clock.mockRestore();
  });

  it('are right in a collection that has taken the place of another', async () => {
    await expectRightPages('before');
    await database.models.items.collection.drop();
    await new SchemaRepository(database).createIndexes();
    stored = Array.from({ length: ITEMS }, (_, n) => numbered(n + 3)).filter(({ publicId }) => publicId % 5 > 0);
    await database.models.items.collection.insertMany(stored);
    await expectRightPages('after');
    await create({ ...numbered(2001), createdAt: new Date(Date.UTC(2026, 5, 1)) });
    await expectRightPages('and after a create');
  });

  it('are right while items are being created', async () => {
    const times = Array.from({ length: 60 }, (_, n) => new Date(Date.UTC(2026, 5, 1) + n));
    const createAll = async (): Promise<void> => {
      for (const [n, createdAt] of times.entries()) await create({ ...numbered(2001 + n * 25), createdAt });
    };
    const readOn = async (): Promise<void> => {
      for (let n = 0; n < times.length; n++) await Promise.all([1000, 1000, 1020].map((skip) => idsOf({}, skip)));
    };
    await Promise.all([createAll(), readOn()]);
    await expectRightPages('after it');
  });

  it('are counted where changes cannot be followed', async () => {
    const watch = jest.spyOn(Object.getPrototypeOf(database.models.items.collection), 'watch');
    watch.mockImplementation(() => {
      throw new Error('not authorized');
    });
    try {
      await expectRightPages('without a change stream');
      expect(watch).toHaveBeenCalledTimes(1);
    } finally {
      watch.mockRestore();
    }
  });

  it('are followed from where the majority is, on the primary', async () => {
    const watch = jest.spyOn(Object.getPrototypeOf(database.models.items.collection), 'watch');
    await idsOf({}, 1400);
    const options = watch.mock.calls[0]?.[1];
    watch.mockRestore();
    expect(options).toMatchObject({ readPreference: 'primary' });
    expect(options).toHaveProperty('startAtOperationTime');
  });

  it('are counted where a stream hangs, which is closed once it can be', async () => {
    let answer: (change: object) => void = () => undefined;
    const tryNext = jest.fn(() => new Promise<object>((resolve) => (answer = resolve)));
    const close = jest.fn(() => Promise.resolve());
    const collection = Object.getPrototypeOf(database.models.items.collection) as { watch: () => unknown };
    const watch = jest.spyOn(collection, 'watch').mockReturnValue({ tryNext, close, closed: false });
    try {
      await expectRightPages('with a stream that hangs');
      expect(watch).toHaveBeenCalledTimes(1);
      expect(close).not.toHaveBeenCalled();
    } finally {
      watch.mockRestore();
    }
    const now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now + 11_000);
    await expectRightPages('with another stream');
    answer({ operationType: 'insert', changed: [], fullDocument: { ...numbered(2001), createdAt: new Date() } });
    await expectRightPages('after an answer that came too late');
    clock.mockRestore();
    for (const once of [tryNext, close]) expect(once).toHaveBeenCalledTimes(1);
  }, 30_000);
});
