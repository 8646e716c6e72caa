import { mongo } from 'mongoose';
import {
  createMongodb,
  removeDatabaseServers,
  startMongodb,
  type DatabaseServer,
} from '../../../../test/support/database-servers.js';
import { freshEnvironment, openDatabase } from '../../../../test/support/environment.js';
import { eventually } from '../../../../test/support/eventually.js';
import { findPage } from '../../../../test/support/find-page.js';
import { inListOrder, isListed, record, store } from '../../../../test/support/items.js';
import { profile, type ProfiledQuery } from '../../../../test/support/profile.js';
import type { Database } from '../connection/database.js';
import { idOf } from '../serialization/item-json.js';
import type { ItemRecord } from '../item-record.js';
import { LIST_ORDER } from '../models.js';
import { ItemRepository, type PageRequest } from '../item-repository.js';
import type { ItemFilter } from './list-query.js';
import type { ItemPage } from './list-reader.js';
import { SchemaRepository } from '../schema-repository.js';

interface FoundPage {
  ids: string[] | undefined;
  nextAfter: string | undefined;
}

const decimals = (...texts: string[]): mongo.Decimal128[] => texts.map((text) => mongo.Decimal128.fromString(text));
/** Numbers that other services may store in fields by which lists are sorted. */
const ODD_NUMBERS = {
  fractions: [1.5, 0.1, -1.5, ...decimals('1.25', '1.0000000000000001', '0.1', '0.1234567890123456789')],
  infinite: decimals('Infinity', '1E+400', '-Infinity', 'NaN'),
  // Only the last one is a number of JavaScript between whose neighbours there are no other integers.
  inexact: ['9007199254740993', '9007199254740992', '9007199254740990'].map((text) => mongo.Long.fromString(text)),
};
const UNCHECKED = { bypassDocumentValidation: true };
const ITEMS = 1600;
const LIMIT = 20;
const FILTERS: ItemFilter[] = [
  {},
  { status: 'available' },
  { categoryId: 1 },
  { status: 'available', categoryId: 1 },
  { terms: ['bike'] },
];
/** Pages near the start of the list, far into it, and past its end. */
const SKIPS = [0, 5, 499, 500, 690, 1101, 3000];

function numbered(n: number): ItemRecord {
  const isBoosted = n % 300 === 0;
  return record({
    publicId: n,
    slug: `thing-${String(n)}`,
    searchTerms: n % 10 === 0 ? ['car'] : ['bike'],
    isBoosted,
    boostScore: isBoosted ? n % 7 : 0,
    // Several items share each timestamp.
    createdAt: new Date(Date.UTC(2026, 0, 1) + Math.floor(n / 3) * 1000),
    isVisible: n % 25 !== 3,
    status: n % 9 === 0 ? 'sold' : 'available',
    categoryId: n % 8 === 0 ? 2 : 1,
  });
}

describe('ItemRepository.findPage', () => {
  let database: Database;
  let items: ItemRepository;
  let newQueries: () => Promise<ProfiledQuery[]>;
  let stored: ItemRecord[];
  beforeAll(async () => {
    database = await openDatabase(freshEnvironment());
    await new SchemaRepository(database).createIndexes();
    items = new ItemRepository(database);
    stored = Array.from({ length: ITEMS }, (_, n) => numbered(n));
    await database.models.items.collection.insertMany(stored);
    newQueries = await profile(database);
  });
  afterAll(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });

  const listOf = (filter: ItemFilter): string[] =>
    stored
      .filter((item) => isListed(filter, item))
      .sort(inListOrder)
      .map(({ _id }) => _id.toHexString());
  const find = async (filter: ItemFilter, part: { skip: number } | { after: string }): Promise<FoundPage> => {
    const page = await findPage(items, filter, { ...part, limit: LIMIT });
    return { ids: page?.items.map((raw) => idOf(raw)), nextAfter: page?.nextAfter };
  };
  const costOf = async (read: () => Promise<unknown>): Promise<{ keys: number; documents: number }> => {
    await newQueries();
    await read();
    const queries = await newQueries();
    return {
      keys: queries.reduce((sum, { keysExamined }) => sum + keysExamined, 0),
      documents: queries.reduce((sum, { docsExamined }) => sum + docsExamined, 0),
    };
  };

  it.each(FILTERS)('findPage returns the page after a number of items: %j', async (filter) => {
    const list = listOf(filter);
    for (const skip of SKIPS) {
      const { ids, nextAfter } = await find(filter, { skip });
      expect({ skip, ids }).toEqual({ skip, ids: list.slice(skip, skip + LIMIT) });
      expect(nextAfter !== undefined).toBe(list.length > skip + LIMIT);
    }
  });

  it.each(FILTERS)('findPage continues after a cursor or an item until the end of the list: %j', async (filter) => {
    const list = listOf(filter);
    for (const byId of [false, true]) {
      let page = await find(filter, { skip: 0 });
      const walked = [...(page.ids ?? [])];
      while (page.nextAfter !== undefined) {
        page = await find(filter, { after: byId ? (walked.at(-1) ?? '') : page.nextAfter });
        walked.push(...(page.ids ?? []));
      }
      expect(walked).toEqual(list);
    }
  });

  it('a search for many words sends one query at a time', async () => {
    const readAll = database.readAll.bind(database) as (...args: unknown[]) => Promise<unknown[]>;
    let [running, most] = [0, 0];
    const counted = (...args: unknown[]): Promise<unknown[]> => {
      most = Math.max(most, ++running);
      return readAll(...args).finally(() => running--);
    };
    const spy = jest.spyOn(database, 'readAll').mockImplementation(counted);
    const terms = ['bike', 'car', 'red', 'city', 'blue'];
    await findPage(new ItemRepository(database), { terms }, { skip: 0, limit: LIMIT });
    expect([spy.mock.calls.length, most]).toEqual([terms.length, 1]);
    spy.mockRestore();
  });

  it('findPage continues after items whose time another service has stored as text or as a number', async () => {
    const times: [number, unknown][] = [
      [20, '2026-01-01T00:00:02.000Z'],
      [21, '2026-01-01T00:00:01.000Z'],
      [22, '2026-01-01T00:00:01.000Z'],
      [23, mongo.Long.fromNumber(1_767_225_600_000)],
      [24, 1_767_225_500_000],
      [25, mongo.Decimal128.fromString('1767225400000')],
    ];
    const { collection } = database.models.items;
    const listed = listOf({});
    const set = async (publicId: number, createdAt: unknown): Promise<string> => {
      const found = await collection.findOneAndUpdate({ publicId }, { $set: { createdAt: createdAt } });
      return String(found?._id);
    };
    const odd: string[] = [];
    for (const [publicId, time] of times) odd.push(await set(publicId, time));
    // Items with the same time are in descending order of their numbers.
    const [first = '', second = '', third = '', ...numbers] = odd;
    const expected = [...listed.filter((id) => !odd.includes(id)), first, third, second, ...numbers];
    const read = async (limit: number, part: object): Promise<FoundPage> => {
      const page = await findPage(items, {}, { limit, ...part } as PageRequest);
      return { ids: page?.items.map((raw) => idOf(raw)), nextAfter: page?.nextAfter };
    };
    for (const limit of [1, 4]) {
      let page = await read(limit, { skip: expected.length - 12 });
      const walked = [...(page.ids ?? [])];
      while (page.nextAfter !== undefined) {
        page = await read(limit, { after: page.nextAfter });
        walked.push(...(page.ids ?? []));
      }
      expect(walked).toEqual(expected.slice(-12));
    }
    expect((await read(10, { after: first })).ids).toEqual([third, second, ...numbers]);
    for (const [publicId] of times) await set(publicId, numbered(publicId).createdAt);
  });

  it.each(FILTERS)('findPage reads only the documents of the page: %j', async (filter) => {
    const [, last = ''] = [listOf(filter), listOf(filter)[900]];
    const far = await costOf(() => find(filter, { skip: 900 }));
    expect(far.documents).toBeLessThanOrEqual(LIMIT + 2);
    const after = await costOf(() => find(filter, { after: last }));
    expect(after.documents).toBeLessThanOrEqual(LIMIT + 2);
    expect(after.keys).toBeLessThanOrEqual(LIMIT + 40);
  });
});

describe('ListReader.findPage', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openDatabase(freshEnvironment());
    await new SchemaRepository(database).createIndexes();
  });
  afterAll(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });

  it.each([
    // If the item is found again as the one after the page, it is also on the next page, at its new position.
    [
      3,
      [
        ['a', 'b', 'c'],
        ['a', 'd', 'e'],
      ],
    ],
    [
      4,
      [
        ['a', 'b', 'c'],
        ['d', 'e'],
      ],
    ],
  ])('findPage returns an item that moves down the list during the read once: pages of %d', async (limit, pages) => {
    const at = (time: number): Partial<ItemRecord> => ({ categoryId: limit, createdAt: new Date(time) });
    const [a, b, c, d, e] = [record(at(50)), record(at(40)), record(at(30)), record(at(20)), record(at(10))];
    await store(database, a, b, c, d, e);
    const findItems = database.findItems.bind(database);
    // MongoDB reads a long page in parts, each as the list is at that moment.
    const reading = jest.spyOn(database, 'findItems').mockImplementationOnce(async (query, deadline) => {
      const first = await findItems({ ...query, limit: 2 }, deadline);
      await database.models.items.updateOne({ _id: a._id }, at(25));
      return [...first, ...(await findItems({ ...query, skip: 1, limit: limit - 1 }, deadline))];
    });
    const names = new Map(Object.entries({ a, b, c, d, e }).map(([name, { _id }]) => [_id.toHexString(), name]));
    const items = new ItemRepository(database);
    const find = async (part: { skip: number } | { after: string }): Promise<ItemPage | undefined> =>
      findPage(items, { categoryId: limit }, { limit, ...part });
    const first = await find({ skip: 0 });
    const second = await find({ after: first?.nextAfter ?? '' });
    reading.mockRestore();
    expect([first, second].map((page) => page?.items.map((item) => names.get(idOf(item))))).toEqual(pages);
    expect(second?.nextAfter).toBeUndefined();
  });

  it('a walk misses no item if malformed items before it are deleted during the read', async () => {
    const categoryId = 8;
    const malformed = [record({ categoryId }), record({ categoryId })] as const;
    const [item] = await store(database, record({ categoryId }), ...malformed);
    const ids = malformed.map(({ _id }) => _id);
    const { collection } = database.models.items;
    await collection.updateMany({ _id: { $in: ids } }, { $set: { boostScore: 'high' } }, UNCHECKED);
    const findItems = database.findItems.bind(database);
    const reading = jest.spyOn(database, 'findItems').mockImplementationOnce(async (...query) => {
      const found = await findItems(...query);
      await collection.deleteOne({ _id: malformed[0]._id });
      return found;
    });
    const repository = new ItemRepository(database);
    const first = await findPage(repository, { categoryId }, { skip: 0, limit: 2 });
    const second = await findPage(repository, { categoryId }, { after: first?.nextAfter ?? '', limit: 2 });
    reading.mockRestore();
    expect(second?.items.map(idOf)).toEqual([item._id.toHexString()]);
  });

  it.each<[string, number, (keyof typeof ODD_NUMBERS)[]]>([
    ['publicId', 11, ['fractions', 'infinite', 'inexact']],
    ['boostScore', 12, ['fractions', 'infinite']],
  ])('a walk ends and contains each item once if others have an odd %s', async (field, categoryId, kinds) => {
    const createdAt = new Date(0);
    const isBoosted = field === 'boostScore';
    const numbers: unknown[] = [5, 0, ...kinds.flatMap<unknown>((kind) => ODD_NUMBERS[kind])];
    const { collection } = database.models.items;
    await collection.insertMany(
      numbers.map((number) => ({ ...record({ categoryId, createdAt, isBoosted }), [field]: number })),
    );
    const inOrder = (await collection.find({ categoryId }).sort(LIST_ORDER).toArray()) as mongo.Document[];
    const hasPosition = inOrder.map((item) => Math.abs(Number(item[field])) <= Number.MAX_SAFE_INTEGER);
    const expected = inOrder.filter((_, index) => hasPosition[index]).map(({ _id }) => String(_id));
    const repository = new ItemRepository(database);
    for (const limit of [1, 2, 3, 100]) {
      let page = await findPage(repository, { categoryId }, { skip: 0, limit });
      const walked = [...(page?.items ?? [])];
      for (let pages = 1; page?.nextAfter !== undefined && pages < numbers.length; pages += 1) {
        page = await findPage(repository, { categoryId }, { after: page.nextAfter, limit });
        walked.push(...(page?.items ?? []));
      }
      expect(page?.nextAfter).toBeUndefined();
      const ids = walked.map(idOf);
      expect(ids).toEqual([...new Set(ids)]);
      expect(ids.filter((id) => expected.includes(id))).toEqual(expected);
    }
  });

  it('pages by number contain each item once if an item has an array in place of its time', async () => {
    const categoryId = 6;
    const status = 'sold';
    const inOrder = Array.from({ length: 5100 }, (_, n) => {
      const item = record({ categoryId, status, createdAt: new Date(Date.UTC(2026, 0, 1) - n * 1000) });
      // MongoDB indexes only one array of a document.
      delete item.searchTerms;
      return item;
    });
    await store(database, ...inOrder);
    const set = (n: number, times: number[]): Promise<unknown> => {
      const createdAt = times.map((time) => new Date(Date.UTC(2026, 0, 1) - time * 1000));
      const update = { $set: { createdAt } } as object;
      return database.models.items.collection.updateOne({ publicId: inOrder[n]?.publicId ?? 0 }, update, UNCHECKED);
    };
    // One element is on either side of position 5,000.
    await set(10, [10, 5055]);
    await set(5050, [5050, 5070]);
    const repository = new ItemRepository(database);
    for (const filter of [{ categoryId, status }, { status }] as const) {
      const ids: string[] = [];
      for (const skip of [0, 1, 2, 3, 4, 5].map((page) => page * 1000)) {
        const page = await findPage(repository, filter, { skip, limit: 1000 });
        ids.push(...(page?.items ?? []).map(idOf));
      }
      expect(ids).toEqual(inOrder.map(({ _id }) => _id.toHexString()));
    }
  });
});

describe('ListReader.findPage while MongoDB pauses', () => {
  let mongod: DatabaseServer;
  let database: Database;
  beforeAll(async () => {
    // By default, MongoDB also yields every 10 ms. On a busy machine, the update would yield and pause as well.
    const parameters = ['enableTestCommands=1', 'internalQueryExecYieldPeriodMS=600000'];
    mongod = await createMongodb(...parameters.flatMap((parameter) => ['--setParameter', parameter]));
    await startMongodb(mongod);
    database = await openDatabase({ ...freshEnvironment(), MONGODB_URI: mongod.url });
    await new SchemaRepository(database).createIndexes();
  });
  afterAll(async () => {
    await database.close();
    await removeDatabaseServers();
  });

  const admin = (command: object): Promise<object> => database.connection.getClient().db('admin').command(command);

  it('a list of a category contains an item whose status changes during the read', async () => {
    const changing = record();
    const stored = await store(
      database,
      record(),
      record({ status: 'sold' }),
      changing,
      record(),
      record({ status: 'sold' }),
    );
    const namespace = `${database.connection.name}.items`;
    const pauseAfter = (mode: object | 'off'): Promise<object> =>
      admin({ configureFailPoint: 'setYieldAllLocksHang', mode, data: { namespace } });
    const yieldEach = (internalQueryExecYieldIterations: number): Promise<object> =>
      admin({ setParameter: 1, internalQueryExecYieldIterations });
    for (let steps = 4; steps < 14; steps += 1) {
      // Lets MongoDB pause after each step of the query, but not of the update.
      await yieldEach(1);
      await pauseAfter({ skip: steps });
      const reading = findPage(new ItemRepository(database), { categoryId: 7 }, { skip: 0, limit: 20 });
      await eventually(async () => {
        const { inprog } = (await admin({ currentOp: 1, ns: namespace })) as { inprog: { numYields: number }[] };
        expect(Math.max(...inprog.map(({ numYields }) => numYields))).toBeGreaterThan(steps);
      });
      await yieldEach(1000);
      const status = steps % 2 === 0 ? 'sold' : 'available';
      await database.models.items.updateOne({ _id: changing._id }, { status });
      await pauseAfter('off');
      expect((await reading)?.items).toHaveLength(stored.length);
    }
  });
});
