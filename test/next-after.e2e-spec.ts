import type { Item } from '@app/contracts';
import { MaintenanceRepository, mongoId, newMongoId, type ItemRecord } from '@app/database';
import { addFavourites, record, store } from './support/items.js';
import { startApi, startService, type Service } from './support/service.js';
import { pagesOf, walk } from './support/walk.js';

const CURSOR = /^[\x21-\x7e]{1,200}$/;
const HOUR_MS = 3_600_000;
const OLD = new Date('2020-01-01T00:00:00Z');
const CATEGORY = 7;
const USER = 'walker';

/** Lists that contain every item that a test stores: all of them are available red bikes. */
const LISTS: [string, object][] = [
  ['everything', {}],
  ['a status', { status: 'available' }],
  ['a category', { categoryId: String(CATEGORY) }],
  ['a status of a category', { categoryId: String(CATEGORY), status: 'available' }],
  ['a search', { search: 'bike' }],
  ['a search for several words', { search: 'red bike' }],
  ['a search in a status of a category', { search: 'red bike', categoryId: String(CATEGORY), status: 'available' }],
];
const FAVOURITES: [string, object][] = [
  ['favourites', { userId: USER }],
  ['favourites of a search in a status', { userId: USER, search: 'red bike', status: 'available' }],
];

const ids = (items: Item[]): string[] => items.map(({ id }) => id);

/** Whether the item has kept its position in lists. */
const isSamePlace = (one: Item, other: Item): boolean =>
  one.id === other.id &&
  one.isBoosted === other.isBoosted &&
  one.boostScore === other.boostScore &&
  one.createdAt === other.createdAt;

describe('Next-After', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ worker: false });
  });
  beforeEach(async () => {
    const { items, favourites } = service.database.models;
    await Promise.all([items.deleteMany({}), favourites.deleteMany({})]);
  });
  afterAll(() => service.stop());

  /** Returns a whole list of at most 100 items. */
  const all = (input: object): Promise<Item[]> => service.api.getAll({ ...input, pageSize: 100 });
  const cursorOf = async (input: object): Promise<string> => {
    const { headers } = await service.api.call('getAll', input);
    return headers.get('next-after') ?? '';
  };
  const isCursorRefused = async (input: object): Promise<boolean> => {
    type Issues = { data?: { issues: { path: unknown[] }[] } };
    const { status, body } = await service.api.call<Issues>('getAll', input);
    return status === 400 && JSON.stringify(body.data?.issues.map(({ path }) => path)) === '[["after"]]';
  };

  /** Stores items, many of which share their score and creation time. All of them are favourites. */
  const storeTies = async (): Promise<ItemRecord[]> => {
    const createdAt = new Date('2026-01-01T00:00:00Z');
    const boosted = { categoryId: CATEGORY, isBoosted: true, boostExpiresAt: null };
    const stored = await store(
      service.database,
      ...[1, 2, 3, 4].map(() => record({ categoryId: CATEGORY, createdAt })),
      ...[1, 2, 3].map(() => record({ categoryId: CATEGORY })),
      ...[5, 5, 5, 5, 1, 0].map((boostScore) => record({ ...boosted, boostScore, createdAt })),
      ...[5, 7.5].map((boostScore) => record({ ...boosted, boostScore })),
    );
    await addFavourites(service.database, USER, stored.slice(0, 8));
    await service.database.models.favourites.insertMany(
      stored.slice(8).map(({ _id }) => ({ userId: USER, itemId: _id, createdAt: new Date(3000) })),
    );
    return stored;
  };

  describe('as a cursor', () => {
    it.each([...LISTS, ...FAVOURITES])('Next-After leads from page to page of %s, in list order', async (_, filter) => {
      await storeTies();
      const list = await all(filter);
      expect(list).toHaveLength(15);
      for (const pageSize of [1, 2, 4]) expect(await walk(service.api, { ...filter, pageSize })).toEqual(list);
    });

    it('Next-After is visible ASCII of at most 200 characters, and is missing on the last page', async () => {
      await storeTies();
      for (const filter of [{}, { userId: USER }]) {
        expect(await cursorOf({ ...filter, pageSize: 14 })).toMatch(CURSOR);
        expect(await cursorOf({ ...filter, pageSize: 15 })).toBe('');
        expect(await cursorOf({ ...filter, pageSize: 16 })).toBe('');
        expect(await cursorOf({ ...filter, categoryId: '99' })).toBe('');
        const [first, second, ...others] = await Promise.all(
          [1, 2, 3, 4].map((page) => cursorOf({ ...filter, page, pageSize: 5 })),
        );
        expect([first, second]).toEqual([expect.stringMatching(CURSOR), expect.stringMatching(CURSOR)]);
        expect(others).toEqual(['', '']);
      }
    });

    it('Next-After continues from a page that was requested by number or by item', async () => {
      await storeTies();
      for (const filter of [{}, { userId: USER }]) {
        const list = await all(filter);
        const fromPage = await cursorOf({ ...filter, page: 2, pageSize: 3 });
        expect(await walk(service.api, { ...filter, after: fromPage })).toEqual(list.slice(6));
        const fromItem = await cursorOf({ ...filter, after: list[1]?.id, pageSize: 3 });
        expect(await walk(service.api, { ...filter, after: fromItem })).toEqual(list.slice(5));
      }
    });

    it('Next-After continues from a page far into a list', async () => {
      await store(service.database, ...Array.from({ length: 640 }, () => record()));
      const after = await cursorOf({ page: 12, pageSize: 50 });
      expect(after).toMatch(CURSOR);
      expect(await service.api.getAll({ after })).toEqual(await service.api.getAll({ page: 13 }));
      expect(await cursorOf({ page: 13 })).toBe('');
    });

    it('Next-After is sent with an envelope, and accepted in one', async () => {
      await storeTies();
      const list = await all({});
      const first = await service.api.call<{ json: Item[] }>('getAll', { json: { pageSize: 10 } });
      const after = first.headers.get('next-after');
      expect(after).toMatch(CURSOR);
      const second = await service.api.call<{ json: Item[] }>('getAll', { json: { pageSize: 10, after } });
      expect(second.headers.get('next-after')).toBeNull();
      expect([...first.body.json, ...second.body.json]).toEqual(list);
    });

    it('Next-After is sent in response to each of several identical requests at once', async () => {
      await storeTies();
      const cursors = await Promise.all(Array.from({ length: 8 }, () => cursorOf({ pageSize: 4 })));
      expect(cursors).toEqual(cursors.map(() => expect.stringMatching(CURSOR) as string));
    });

    it('Next-After is understood by every other instance of the API', async () => {
      await storeTies();
      const other = await startApi(service.env);
      try {
        for (const filter of [{}, { userId: USER }]) {
          const after = await cursorOf({ ...filter, pageSize: 6 });
          expect(await other.api.getAll({ ...filter, after })).toEqual((await all(filter)).slice(6));
        }
      } finally {
        await other.stop();
      }
    });

    it('Next-After leads past boosts that have lapsed but are not cleared yet', async () => {
      const lapsed = { isBoosted: true, boostExpiresAt: new Date(Date.now() - 1000), createdAt: OLD };
      await store(
        service.database,
        ...[9, 9, 8, 7, 6].map((boostScore) => record({ ...lapsed, boostScore })),
        ...Array.from({ length: 5 }, () => record()),
      );
      for (const [, filter] of LISTS.slice(0, 2)) {
        const list = await all(filter);
        expect(list).toHaveLength(10);
        expect(ids(await walk(service.api, { ...filter, pageSize: 2 }))).toEqual(ids(list));
      }
    });
  });

  describe('in a changing list', () => {
    /** Stores old items with boosts, some of which expire, and newer items without. All of them are favourites. */
    const storeMany = async (): Promise<void> => {
      const boosted = { categoryId: CATEGORY, isBoosted: true, createdAt: OLD };
      const boostExpiresAt = new Date(Date.now() + HOUR_MS);
      const stored = await store(
        service.database,
        ...[9, 8, 7, 6, 5, 4].map((boostScore) => record({ ...boosted, boostScore, boostExpiresAt })),
        ...[9, 7, 5].map((boostScore) => record({ ...boosted, boostScore, boostExpiresAt: null })),
        ...Array.from({ length: 50 }, () => record({ categoryId: CATEGORY })),
      );
      await addFavourites(service.database, USER, stored);
    };

    /** Changes that others make to the last item of a page or to all items. */
    const changes: [string, (last: Item) => Promise<unknown>][] = [
      [
        'boosts lapse',
        () => new MaintenanceRepository(service.database).clearLapsedBoosts(new Date(Date.now() + 2 * HOUR_MS)),
      ],
      [
        'another service ends all boosts that have an end',
        () =>
          service.database.models.items.updateMany(
            { boostExpiresAt: { $ne: null } },
            { $set: { isBoosted: false, boostScore: 0 } },
          ),
      ],
      [
        'the item is boosted',
        ({ id }) => service.database.models.items.updateOne({ _id: id }, { isBoosted: true, boostScore: 99 }),
      ],
      ['the item is deleted', ({ id }) => service.database.models.items.deleteOne({ _id: id })],
      ['the item is hidden', ({ id }) => service.database.models.items.updateOne({ _id: id }, { isVisible: false })],
      ['the item is sold', ({ id }) => service.database.models.items.updateOne({ _id: id }, { status: 'sold' })],
      ['the item gets another name', ({ id }) => rename(id)],
      ['the item is no favourite any more', ({ id }) => service.database.models.favourites.deleteOne({ itemId: id })],
      ['others are created and favoured', () => createOthers()],
    ];
    const rename = (id: string): Promise<unknown> => {
      const { name, searchTerms = [], searchVersion = 0 } = record({ name: 'Blue kettle' });
      return service.database.models.items.updateOne({ _id: id }, { name, searchTerms, searchVersion });
    };
    const createOthers = async (): Promise<void> => {
      const boost = { categoryId: CATEGORY, isBoosted: true, boostScore: 99 };
      const stored = await store(service.database, record({ categoryId: CATEGORY }), record(boost));
      await addFavourites(service.database, USER, stored, 10_000_000);
    };

    describe.each(changes)('while %s', (_, change) => {
      it.each([...LISTS, ...FAVOURITES])(
        'Next-After neither skips nor repeats an item that keeps its position in a walk of %s',
        async (_, filter) => {
          await storeMany();
          const before = await all(filter);
          expect(before).toHaveLength(59);
          const walked: Item[] = [];
          // The fifth item has a boost that expires.
          for await (const page of pagesOf(service.api, { ...filter, pageSize: 5 })) {
            walked.push(...page);
            const last = page.at(-1);
            if (last !== undefined && walked.length < 50) await change(last);
          }
          const after = await all(filter);
          const kept = ids(before.filter((item) => after.some((other) => isSamePlace(item, other))));
          expect(kept.length).toBeGreaterThan(40);
          expect(ids(walked).filter((id) => kept.includes(id))).toEqual(kept);
        },
      );
    });

    it('Next-After neither skips nor repeats any of a thousand items if ten items already read lose their boosts', async () => {
      const boosted = { isBoosted: true, boostScore: 5, boostExpiresAt: new Date(Date.now() + HOUR_MS) };
      await store(
        service.database,
        ...Array.from({ length: 10 }, () => record({ ...boosted, createdAt: OLD })),
        ...Array.from({ length: 1000 }, () => record()),
      );
      const { items } = service.database.models;
      const walked: Item[] = [];
      for await (const page of pagesOf(service.api, { pageSize: 10 })) {
        walked.push(...page);
        await items.updateMany({ isBoosted: true }, { $set: { isBoosted: false, boostScore: 0 } });
      }
      const others = walked.filter(({ createdAt }) => createdAt !== OLD.toISOString());
      expect(others).toHaveLength(1000);
      expect(new Set(ids(others)).size).toBe(1000);
    });

    it('Next-After continues after the item of the cursor and its favourite have both been deleted', async () => {
      await storeMany();
      const filter = { userId: USER, pageSize: 4 };
      const list = await all({ userId: USER });
      const after = await cursorOf(filter);
      const _id = mongoId(list[3]?.id ?? newMongoId());
      await service.database.models.items.deleteOne({ _id });
      await service.database.models.favourites.deleteOne({ itemId: _id });
      expect(ids(await service.api.getAll({ ...filter, after }))).toEqual(ids(list.slice(4, 8)));
    });
  });

  describe('in a request', () => {
    it.each([
      ['of a list', {}],
      ['of favourites', { userId: USER }],
    ])('a cursor is refused unless it is exactly as it was sent: %s', async (_, filter) => {
      await storeTies();
      const cursor = await cursorOf({ ...filter, pageSize: 3 });
      expect(cursor).toMatch(CURSOR);
      const replaced = [0, cursor.length >> 1, cursor.length - 1].flatMap((at) =>
        ['A', 'z', '~'].map((letter) => cursor.slice(0, at) + letter + cursor.slice(at + 1)),
      );
      const others = [
        ...replaced.filter((other) => other !== cursor),
        ...['', cursor.slice(1), cursor.slice(0, -1), ` ${cursor}`],
        ...['A', '=', ' ', '\u0000', cursor, 'A'.repeat(10_000)].map((more) => cursor + more),
      ];
      const accepted: string[] = [];
      for (const after of others) if (!(await isCursorRefused({ ...filter, after }))) accepted.push(after);
      expect(accepted).toEqual([]);
    });

    it('a cursor of a list is refused for favourites, and the other way round', async () => {
      await storeTies();
      const [ofList, ofFavourites] = [await cursorOf({ pageSize: 3 }), await cursorOf({ userId: USER, pageSize: 3 })];
      expect([ofList, ofFavourites]).toEqual([expect.stringMatching(CURSOR), expect.stringMatching(CURSOR)]);
      expect(await isCursorRefused({ userId: USER, after: ofList })).toBe(true);
      expect(await isCursorRefused({ after: ofFavourites })).toBe(true);
    });

    it('a cursor is refused together with a page', async () => {
      await storeTies();
      const after = await cursorOf({ pageSize: 3 });
      expect(after).toMatch(CURSOR);
      expect(await isCursorRefused({ after, page: 1 })).toBe(true);
    });
  });

  it('Next-After is documented in the OpenAPI document', async () => {
    interface Documented {
      paths: Record<string, { post: { responses: { 200: { headers: Record<string, { $ref: string }> } } } }>;
      components: { headers: Record<string, object> };
    }
    const { body } = await service.api.request<Documented>('/openapi.json', {});
    const { headers } = body.paths['/api/orpc/items/getAll']?.post.responses[200] ?? { headers: {} };
    const name = headers['Next-After']?.$ref.split('/').at(-1) ?? '';
    const documented = body.components.headers[name];
    expect(documented).toMatchObject({ description: expect.any(String) as string, schema: { type: 'string' } });
    // The header is missing on the last page.
    expect(documented).not.toHaveProperty('required', true);
  });
});

describe('Next-After with CORS_ORIGINS', () => {
  const origin = 'https://shop.example';
  let service: Service;
  beforeAll(async () => {
    service = await startService({ worker: false, env: { CORS_ORIGINS: origin } });
  });
  afterAll(() => service.stop());

  it('Next-After is readable by pages of CORS_ORIGINS', async () => {
    await store(service.database, record(), record());
    const { headers } = await service.api.call('getAll', { pageSize: 1 }, { Origin: origin });
    expect(headers.get('next-after')).toMatch(CURSOR);
    expect(headers.get('access-control-expose-headers')?.split(',')).toContain('Next-After');
  });
});
