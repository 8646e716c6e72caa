import type { Item } from '@app/contracts';
import type { ItemRecord } from '@app/database';
import { mongo } from 'mongoose';
import { eventually } from './support/eventually.js';
import { addFavourites, inListOrder, isListed, record, store } from './support/items.js';
import { profile, type ProfiledQuery } from './support/profile.js';
import { startApi, startService, type RunningApi, type Service } from './support/service.js';

const ITEMS = 20_000;
const PAGE_SIZE = 20;
const DEEP_PAGE = 76;
/** Starts at a cached position. */
const VERY_DEEP_PAGE = 700;

const STATUSES = [undefined, 'available', 'cancelled'] as const;
const CATEGORIES = [undefined, 1, 2, 99];
const SEARCHES = [
  ...['common', 'seldom', 'boo', 'nowhere'],
  ...['common even', 'even odd', 'plain common', 'pair couple', 'seldom common', 'common nowhere', 'boo common'],
].map((search) => search.split(' '));

interface Filter {
  status: (typeof STATUSES)[number];
  category: number | undefined;
  words: string[];
}

/** Every combination of status, category and search. */
const FILTERS = STATUSES.flatMap((status) =>
  CATEGORIES.flatMap((category) => [[], ...SEARCHES].map((words): Filter => ({ status, category, words }))),
);

/** Copied, because the slug and the search terms of 20,000 items take seconds to compute. */
const TEMPLATE = record();

/**
 * Returns item number `n`. No item is both `even` and `odd`, or both `plain` and `common`. Many are `pair` or `couple`,
 * but only three are both. `seldom`, `cancelled` and category 2 are rare.
 */
function numbered(n: number): ItemRecord {
  const isCouple = n % 10 === 1 || n % 6000 === 10;
  const words = [n % 3 === 0 ? 'plain' : 'common', n % 2 === 0 ? 'even' : 'odd', isCouple ? 'couple' : 'single'];
  const isBoosted = n % 40 === 0;
  return {
    ...TEMPLATE,
    _id: new mongo.ObjectId(),
    publicId: n,
    slug: `thing-${String(n)}`,
    searchTerms: [...words, ...(n % 10 === 0 ? ['pair'] : []), ...(n % 7000 === 19 ? ['seldom'] : []), 'bo', 'boo'],
    isBoosted,
    boostScore: isBoosted ? n % 3 : 0,
    // Several items share each moment.
    createdAt: new Date(Date.UTC(2026, 0, 1) + Math.floor(n / 7) * 1000),
    isVisible: n % 25 !== 3,
    status: n % 7000 === 11 ? 'cancelled' : n % 4 === 0 ? 'sold' : 'available',
    categoryId: n % 7000 === 12 ? 2 : n % 3 === 0 ? 1 : 3,
  };
}

describe('every list of 20,000 items', () => {
  let service: Service;
  let newQueries: () => Promise<ProfiledQuery[]>;
  const stored = Array.from({ length: ITEMS }, (_, n) => numbered(n));
  const catalogue = stored.filter(({ isVisible }) => isVisible).sort(inListOrder);
  beforeAll(async () => {
    service = await startService({ worker: false });
    await service.database.models.items.collection.insertMany(stored);
    newQueries = await profile(service.database);
  });
  afterAll(() => service.stop());

  /** Reads a page once. Returns it with the queries of this read. */
  const readOnce = async ({ api }: RunningApi, input: object): Promise<{ items: Item[]; queries: ProfiledQuery[] }> => {
    await newQueries();
    const { status, body } = await api.callOnce<Item[]>('getAll', input);
    expect(status).toBe(200);
    return { items: body, queries: await newQueries() };
  };
  const read = (input: object): ReturnType<typeof readOnce> => eventually(() => readOnce(service, input));

  const inputOf = ({ status, category, words }: Filter): object => ({
    pageSize: PAGE_SIZE,
    ...(status === undefined ? {} : { status }),
    ...(category === undefined ? {} : { categoryId: String(category) }),
    ...(words.length === 0 ? {} : { search: words.join(' ') }),
  });

  const lists = new Map<string, ItemRecord[]>();
  const listOf = ({ status, category, words }: Filter): ItemRecord[] => {
    const key = JSON.stringify([status, category, words]);
    const list =
      lists.get(key) ?? catalogue.filter((item) => isListed({ status, categoryId: category, terms: words }, item));
    lists.set(key, list);
    return list;
  };

  /** Returns the length of each list from which the filtered list could be read. */
  const lengths = ({ status, category, words }: Filter): number[] => [
    ...words.map((word) => listOf({ status: undefined, category: undefined, words: [word] }).length),
    ...(status === undefined && category === undefined ? [] : [listOf({ status, category, words: [] }).length]),
  ];

  /** Reads a part of a list. Returns what is wrong with the response or with its queries. */
  const problemsOf = async (filter: Filter, window: object, expected: ItemRecord[]): Promise<string[]> => {
    const { items, queries } = await read({ ...inputOf(filter), ...window });
    const isRight = items.map(({ publicId }) => publicId).join() === expected.map(({ publicId }) => publicId).join();
    const [length = 0, ...others] = lengths(filter);
    const rarest = others.length === 0 ? 0 : Math.min(length, ...others);
    return [
      ...(isRight ? [] : ['other items than expected']),
      ...(queries.length > 0 ? [] : ['no query was seen']),
      ...queries.flatMap((query) => problemsOfQuery(query, rarest)),
    ].map((problem) => `${JSON.stringify({ ...inputOf(filter), ...window })}: ${problem}`);
  };

  it.each([1, DEEP_PAGE, VERY_DEEP_PAGE])(
    'getAll reads page %i from an index, at a cost proportional to what it returns and skips',
    async (page) => {
      const problems: string[] = [];
      for (const filter of FILTERS) {
        const expected = listOf(filter).slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
        problems.push(...(await problemsOf(filter, { page }, expected)));
      }
      expect(problems).toEqual([]);
    },
  );

  it('getAll continues a page that starts at a cached position with items whose time is stored as text', async () => {
    const { collection } = service.database.models.items;
    const lastPage = Math.floor(catalogue.length / PAGE_SIZE);
    const page = catalogue.slice((lastPage - 1) * PAGE_SIZE, lastPage * PAGE_SIZE);
    // Text follows dates in list order, so that these items keep their positions.
    const last = catalogue.slice(catalogue.indexOf(page[PAGE_SIZE / 2] as ItemRecord));
    const setTimes = (toStored: (time: Date) => unknown): Promise<unknown> =>
      collection.bulkWrite(
        last.map(({ _id, createdAt }) => ({
          updateOne: { filter: { _id }, update: { $set: { createdAt: toStored(createdAt) } } },
        })),
      );
    await setTimes((time) => time.toISOString());
    const { items } = await read({ pageSize: PAGE_SIZE, page: lastPage }).finally(() => setTimes((time) => time));
    expect(items.map(({ publicId }) => publicId)).toEqual(page.map(({ publicId }) => publicId));
  });

  it('getAll counts the items before a very deep page again only after a write', async () => {
    const page = VERY_DEEP_PAGE + 50;
    const input = { pageSize: PAGE_SIZE, page };
    const publicIds = async (): Promise<number[]> => (await service.api.getAll(input)).map(({ publicId }) => publicId);
    const expected = (skip: number): number[] =>
      catalogue.slice(skip, skip + PAGE_SIZE).map(({ publicId }) => publicId);
    const skipped = (page - 1) * PAGE_SIZE;
    const { items } = service.database.models;
    const first = { _id: { $in: catalogue.slice(0, 1).map(({ _id }) => _id) } };
    // A position is kept for a few seconds only.
    await eventually(async () => {
      expect(await publicIds()).toEqual(expected(skipped));
      const { items: again, queries } = await read(input);
      expect(again.map(({ publicId }) => publicId)).toEqual(expected(skipped));
      expect(queries).toHaveLength(1);
      expect(queries[0]?.keysExamined).toBeLessThan(1100);
    });
    await items.updateOne(first, { isVisible: false });
    const whileHidden = await publicIds();
    await items.updateOne(first, { isVisible: true });
    expect(whileHidden).toEqual(expected(skipped + 1));
    expect(await publicIds()).toEqual(expected(skipped));
  });

  it('getAll counts the changes that another service makes in a transaction or with $merge within seconds', async () => {
    const page = VERY_DEEP_PAGE + 50;
    const skipped = (page - 1) * PAGE_SIZE;
    const first = async (): Promise<unknown> => (await service.api.getAll({ pageSize: PAGE_SIZE, page }))[0]?.publicId;
    const expected = (skip: number): unknown => catalogue[skip]?.publicId;
    const { connection, models } = service.database;
    const hide = { _id: { $in: catalogue.slice(0, 1).map(({ _id }) => _id) } };
    expect(await first()).toBe(expected(skipped));
    await connection.transaction((session) => models.items.updateOne(hide, { isVisible: false }, { session }));
    await eventually(async () => {
      expect(await first()).toBe(expected(skipped + 1));
    });
    const show = { $merge: { into: models.items.collection.name, on: '_id', whenMatched: 'merge' } } as const;
    await models.items.collection
      .aggregate([{ $match: hide }, { $project: { isVisible: { $literal: true } } }, show])
      .toArray();
    await eventually(async () => {
      expect(await first()).toBe(expected(skipped));
    });
  });

  it('getAll finds a new item on a very deep page that was beyond the end', async () => {
    const read = async (): Promise<number> =>
      (await service.api.getAll({ pageSize: 1, page: catalogue.length + 1 })).length;
    expect([await read(), await read()]).toEqual([0, 0]);
    const [added] = await store(service.database, record());
    const afterCreate = await read();
    await service.database.models.items.deleteOne({ _id: added._id });
    expect([afterCreate, await read()]).toEqual([1, 0]);
  });

  it.each([0, 30, 2000])(
    'getAll reads what comes after item %i of a list from an index, at the cost of a first page',
    async (index) => {
      const problems: string[] = [];
      for (const filter of FILTERS) {
        const list = listOf(filter);
        const after = list[index];
        if (after === undefined) continue;
        const expected = list.slice(index + 1, index + 1 + PAGE_SIZE);
        problems.push(...(await problemsOf(filter, { after: after._id.toHexString() }, expected)));
      }
      expect(problems).toEqual([]);
    },
  );

  it.each([
    ['common boo', 'boo common'],
    ['odd even', 'even odd'],
    ['seldom common boo', 'boo common seldom'],
  ])('getAll reads a search for %j from the same index range as one for %j', async (search, reordered) => {
    const reads: unknown[] = [];
    for (const input of [{ search }, { search: reordered }]) {
      const last = (await read({ ...input, pageSize: PAGE_SIZE, page: DEEP_PAGE })).queries.at(-1);
      reads.push({ keys: last?.keysExamined, documents: last?.docsExamined });
    }
    expect(reads[0]).toEqual({ keys: expect.any(Number) as number, documents: expect.any(Number) as number });
    expect(reads[1]).toEqual(reads[0]);
  });

  it('getAll finds the rarest of several common conditions by counting keys only, and reads from it', async () => {
    for (const search of ['boo common', 'common boo']) {
      const { queries } = await eventually(async () => {
        // A new API has no counts in its cache.
        const started = await startApi(service.env);
        const input = { search, pageSize: PAGE_SIZE, page: DEEP_PAGE };
        return readOnce(started, input).finally(started.stop);
      });
      const counts = queries.slice(0, -1);
      expect(queries.at(-1)?.docsExamined).toBeLessThan(DEEP_PAGE * PAGE_SIZE + 5);
      expect(counts).toHaveLength(4);
      for (const { docsExamined, keysExamined } of counts) {
        expect(docsExamined).toBe(0);
        expect(keysExamined).toBeLessThanOrEqual(10_001);
      }
    }
  });

  it.each([
    ['few', 100, 100, FILTERS],
    // Only the newest favourites are considered.
    ['many', 6000, 5000, FILTERS.filter(({ words }) => words.length === 0)],
  ])(
    'getAll reads favourites from their index, at a cost proportional to their number: %s',
    async (userId, count, counted, filters) => {
      const favourites = stored.slice(-count);
      await addFavourites(service.database, userId, favourites);
      const newest = favourites.reverse().slice(0, counted);
      const problems: string[] = [];
      for (const filter of filters) {
        const list = listOf(filter);
        const inList = new Set(list);
        const expected = newest.filter((item) => inList.has(item)).slice(0, PAGE_SIZE);
        const { items, queries } = await read({ ...inputOf(filter), userId });
        expect(items.map(({ publicId }) => publicId)).toEqual(expected.map(({ publicId }) => publicId));
        problems.push(...problemsOfFavourites(queries, counted));
      }
      expect(problems).toEqual([]);
    },
  );

  it.each([2, 20, DEEP_PAGE])('getAll reads only the ids of most items before page %i of favourites', async (page) => {
    const userId = `page ${String(page)}`;
    const favourites = stored.slice(-3000);
    await addFavourites(service.database, userId, favourites);
    const visible = favourites.reverse().filter(({ isVisible }) => isVisible);
    const { items, queries } = await read({ userId, pageSize: PAGE_SIZE, page });
    const skipped = (page - 1) * PAGE_SIZE;
    const expected = visible.slice(skipped, skipped + PAGE_SIZE);
    expect(items.map(({ publicId }) => publicId)).toEqual(expected.map(({ publicId }) => publicId));
    const ofWholeItems = queries.filter(
      ({ command: { find, projection = {} } }) => find === 'items' && Object.keys(projection).length > 1,
    );
    const whole = ofWholeItems.reduce((sum, { nreturned }) => sum + nreturned, 0);
    // 4 % of the items before the page are hidden. As many others are read as a whole.
    expect(whole).toBeGreaterThan(PAGE_SIZE);
    expect(whole).toBeLessThanOrEqual(PAGE_SIZE + 1 + 0.05 * skipped + 10);
  });
});

/** Favourites are read by their keys only, then items by their ids: as many as the page holds, or all if few match. */
function problemsOfFavourites(queries: ProfiledQuery[], favourites: number): string[] {
  const isOfItems = ({ command }: ProfiledQuery): boolean => command.find === 'items';
  const [items, positions] = [queries.filter(isOfItems), queries.filter((query) => !isOfItems(query))];
  const sum = (examined: number[]): number => examined.reduce((total, count) => total + count, 0);
  const keys = sum(positions.map(({ keysExamined }) => keysExamined));
  const documents = sum(items.map(({ docsExamined }) => docsExamined));
  return [
    ...positions.flatMap(({ planSummary, hasSortStage, docsExamined }) => [
      ...(planSummary === 'IXSCAN { userId: 1, createdAt: -1, itemId: -1 }' ? [] : [`reads ${planSummary}`]),
      ...(hasSortStage === true ? ['sorts'] : []),
      ...(docsExamined === 0 ? [] : [`reads favourites themselves: ${planSummary}`]),
    ]),
    ...(keys > favourites + 10 ? [`reads ${String(keys)} keys of favourites`] : []),
    ...items.flatMap(({ planSummary }) =>
      planSummary === 'IXSCAN { _id: 1 }' ? [] : [`reads items by ${planSummary}`],
    ),
    ...(documents > favourites ? [`${String(documents)} documents`] : []),
  ];
}

/**
 * A query may examine three times what it returns and skips. With several conditions it may examine ten times that, or
 * all items of the rarest one.
 */
function problemsOfQuery(query: ProfiledQuery, rarest: number): string[] {
  const { command, keysExamined, docsExamined, nreturned, planSummary, hasSortStage } = query;
  const bound = 3 * (nreturned + (command.skip ?? 0)) + 10;
  const most = rarest === 0 ? bound : Math.max(10 * bound, rarest + 10);
  const isCount = command.aggregate !== undefined;
  const cost = `${planSummary}, ${String(keysExamined)} keys, ${String(docsExamined)} documents, at most ${String(most)}`;
  return [
    ...(planSummary.includes('COLLSCAN') ? ['reads the collection'] : []),
    ...(hasSortStage === true ? ['sorts'] : []),
    ...(!isCount && (keysExamined > most || docsExamined > most) ? [cost] : []),
    ...(isCount && docsExamined > 0 ? [`counts by documents: ${cost}`] : []),
    ...(!isCount && rarest === 0 && docsExamined > nreturned ? [`reads what it does not return: ${cost}`] : []),
  ];
}
