import type { Item } from '@app/contracts';
import { MaintenanceRepository } from '@app/database';
import { eventually } from './support/eventually.js';
import { record, store, validInput } from './support/items.js';
import { startService, type Service } from './support/service.js';

const HOUR_MS = 3_600_000;

describe('getAll', () => {
  let service: Service;
  let lastCategory = 100;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  /** Returns the number of a category that no other test uses. */
  const emptyCategory = (): number => ++lastCategory;

  const publicIds = async (input: object): Promise<number[]> =>
    (await service.api.getAll(input)).map(({ publicId }) => publicId);

  it('getAll returns complete items', async () => {
    const categoryId = emptyCategory();
    const item = await service.api.create(validInput({ categoryId: String(categoryId) }));
    expect(await service.api.getAll({ categoryId: String(categoryId) })).toEqual([item]);
  });

  it('getAll returns a created item immediately', async () => {
    const { id } = await service.api.create(validInput());
    expect((await service.api.getAll({ pageSize: 1 })).map((item) => item.id)).toEqual([id]);
  });

  it('getAll treats a request without a body and Content-Type as an empty input', async () => {
    const { status, body } = await service.api.post<Item[]>('/api/orpc/items/getAll', null);
    expect(status).toBe(200);
    expect(body).toEqual(await service.api.getAll({}));
  });

  it('getAll lists active boosts first by score, then the newest items, then the highest publicId', async () => {
    const categoryId = emptyCategory();
    const at = new Date('2026-01-01T00:00:00Z');
    const later = new Date(at.getTime() + 1);
    const boost = { categoryId, isBoosted: true, createdAt: at };
    const stored = await store(
      service.database,
      record({ categoryId, createdAt: at, publicId: 11 }),
      record({ categoryId, createdAt: at, publicId: 12 }),
      record({ categoryId, createdAt: later, publicId: 10 }),
      record({ ...boost, boostScore: 5, boostExpiresAt: null, publicId: 20 }),
      record({
        ...boost,
        boostScore: 5,
        boostExpiresAt: new Date(Date.now() + HOUR_MS),
        createdAt: later,
        publicId: 19,
      }),
      record({ ...boost, boostScore: 9, boostExpiresAt: null, publicId: 18 }),
    );
    const expected = [18, 19, 20, 10, 12, 11];
    expect(await publicIds({ categoryId: String(categoryId) })).toEqual(expected);
    expect(await publicIds({ categoryId: String(categoryId), status: 'available' })).toEqual(expected);
    expect(await publicIds({ categoryId: String(categoryId), search: 'bike' })).toEqual(expected);
    expect(stored).toHaveLength(expected.length);
  });

  it('getAll returns a lapsed boost as ended, and reorders the item after maintenance has run', async () => {
    const categoryId = emptyCategory();
    const createdAt = new Date('2026-01-01T00:00:00Z');
    const lapsed = { isBoosted: true, boostScore: 9, boostExpiresAt: new Date(Date.now() - 1) };
    await store(
      service.database,
      record({ categoryId, createdAt, publicId: 31, ...lapsed }),
      record({ categoryId, publicId: 30 }),
    );
    const before = await service.api.getAll({ categoryId: String(categoryId) });
    expect(before.map(({ isBoosted }) => isBoosted)).toEqual([false, false]);
    expect(before.map(({ boostScore }) => boostScore)).toEqual([0, 0]);
    await new MaintenanceRepository(service.database).clearLapsedBoosts(new Date());
    expect(await publicIds({ categoryId: String(categoryId) })).toEqual([30, 31]);
  });

  it('getAll omits hidden items', async () => {
    const categoryId = emptyCategory();
    await store(service.database, record({ categoryId, isVisible: false }));
    expect(await service.api.getAll({ categoryId: String(categoryId) })).toEqual([]);
  });

  it('getAll combines filters with AND', async () => {
    const categoryId = emptyCategory();
    await store(
      service.database,
      record({ categoryId, publicId: 41, status: 'sold', name: 'Blue kettle' }),
      record({ categoryId, publicId: 42, status: 'sold', name: 'Green kettle' }),
      record({ categoryId, publicId: 43, name: 'Blue kettle' }),
      record({ categoryId: emptyCategory(), publicId: 44, status: 'sold', name: 'Blue kettle' }),
    );
    expect(await publicIds({ categoryId: String(categoryId), status: 'sold', search: 'blue' })).toEqual([41]);
  });

  it('getAll returns items of every status when status is omitted or all', async () => {
    const categoryId = emptyCategory();
    const statuses = ['available', 'reserved', 'sold', 'shipped', 'delivered', 'cancelled'] as const;
    await store(service.database, ...statuses.map((status) => record({ categoryId, status })));
    const category = { categoryId: String(categoryId) };
    expect(await publicIds(category)).toHaveLength(6);
    expect(await publicIds({ ...category, status: 'all' })).toHaveLength(6);
    for (const status of statuses) {
      expect((await service.api.getAll({ ...category, status })).map((item) => item.status)).toEqual([status]);
    }
  });

  it('getAll finds a category by number and by slug, and returns nothing for an unknown category', async () => {
    const categoryId = emptyCategory();
    await service.database.models.categories.insertMany([{ _id: categoryId, slug: 'kettles', title: 'Kettles' }]);
    await store(service.database, record({ categoryId, publicId: 51 }));
    expect(await publicIds({ categoryId: String(categoryId) })).toEqual([51]);
    expect(await publicIds({ categoryId: 'kettles' })).toEqual([51]);
    for (const unknown of [
      'no-such',
      '',
      `0${String(categoryId)}`,
      '9007199254740992',
      '99999999',
      `${String(categoryId)}.0`,
    ]) {
      expect(await publicIds({ categoryId: unknown })).toEqual([]);
    }
  });

  it('getAll returns a list page by page', async () => {
    const categoryId = emptyCategory();
    await store(service.database, ...Array.from({ length: 103 }, () => record({ categoryId })));
    const category = { categoryId: String(categoryId) };
    const all = [
      ...(await publicIds({ ...category, pageSize: 100 })),
      ...(await publicIds({ ...category, page: 2, pageSize: 100 })),
    ];
    expect(all).toHaveLength(103);
    expect(all).toEqual([...all].sort((a, b) => b - a));
    expect(await publicIds(category)).toEqual(all.slice(0, 50));
    expect(await publicIds({ ...category, page: 3 })).toEqual(all.slice(100));
    expect(await publicIds({ ...category, page: 2, pageSize: 1 })).toEqual(all.slice(1, 2));
    expect(await publicIds({ ...category, page: 4 })).toEqual([]);
    expect(await publicIds({ ...category, page: Number.MAX_SAFE_INTEGER, pageSize: 100 })).toEqual([]);
  });

  it.each([
    ['page', { page: 0 }],
    ['page', { page: 1.5 }],
    ['page', { page: '1' }],
    ['page', { page: null }],
    ['page', { page: -1 }],
    ['pageSize', { pageSize: 0 }],
    ['pageSize', { pageSize: 101 }],
    ['pageSize', { pageSize: 2.5 }],
    ['search', { search: null }],
    ['search', { search: 1 }],
    ['search', { search: { $ne: null } }],
    ['categoryId', { categoryId: 7 }],
    ['status', { status: 'gone' }],
    ['status', { status: '' }],
    ['status', { status: { $ne: 'sold' } }],
    ['userId', { userId: 1 }],
    ['after', { after: 1 }],
  ])('getAll rejects an invalid %s: %j', async (field, input) => {
    const { status, data } = await service.api.error('getAll', input);
    expect(status).toBe(400);
    expect(data.issues.map(({ path }) => path)).toEqual([[field]]);
  });

  it('getAll asks for fewer items if their page is too large to send', async () => {
    const categoryId = emptyCategory();
    // Larger than `create` allows, as another service may store them. Each character takes six bytes of JSON.
    const description = '\u0001'.repeat(1_000_000);
    for (let n = 0; n < 7; n++) await store(service.database, record({ categoryId, description, searchTerms: [] }));
    const input = { categoryId: String(categoryId), pageSize: 7 };
    try {
      // On a busy machine, the time of a read may run out first.
      await eventually(async () => {
        const { status, code, data } = await service.api.error('getAll', input);
        expect([status, code]).toEqual([400, 'BAD_REQUEST']);
        expect(data.issues).toEqual([
          { path: ['pageSize'], message: expect.stringContaining('fewer items') as string },
        ]);
      }, 60_000);
      expect(await service.api.getAll({ ...input, pageSize: 2 })).toHaveLength(2);
    } finally {
      await service.database.models.items.deleteMany({ categoryId });
    }
  });

  it.each(['plain', 'enveloped'])(
    'getAll sends a large page to all clients that request it at the same time: %s',
    async (form) => {
      const categoryId = emptyCategory();
      const description = 'x'.repeat(1_000_000);
      for (let n = 0; n < 6; n++) await store(service.database, record({ categoryId, description, searchTerms: [] }));
      const input = { categoryId: String(categoryId) };
      const body = form === 'plain' ? input : { json: input };
      try {
        const callAtOnce = async (call: object): Promise<number[]> => {
          const responses = await Promise.all(Array.from({ length: 20 }, () => service.api.callOnce('getAll', call)));
          return responses.map(({ status }) => status);
        };
        // Opens the connections, so that the requests arrive together.
        let statuses = await callAtOnce({ pageSize: 1 });
        // A busy machine may not read the page in time. A connection that is closed makes the call throw.
        do statuses = await callAtOnce(body);
        while (statuses.includes(503));
        expect(statuses).toEqual(Array(20).fill(200));
      } finally {
        await service.database.models.items.deleteMany({ categoryId });
      }
    },
  );

  it('getAll reports all issues at once and ignores unknown keys', async () => {
    const input = { page: 0, pageSize: 'x', status: 1, after: 'x', unknown: true };
    const { data } = await service.api.error('getAll', input);
    expect(data.issues.map(({ path }) => path[0]).sort()).toEqual(['after', 'page', 'pageSize', 'status']);
    expect(await service.api.getAll({ unknown: { $where: '1' } })).not.toHaveLength(0);
  });
});
