import type { Item } from '@app/contracts';
import { addFavourites, record, store, validInput } from './support/items.js';
import { startService, type Service } from './support/service.js';

describe('getAll after an item', () => {
  let service: Service;
  let lastCategory = 100;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  /** Reads a whole list in small pages. Calls `between` once, after the first page. */
  const walk = async (filter: object, between = (): Promise<unknown> => Promise.resolve()): Promise<Item[]> => {
    const items = await service.api.getAll({ ...filter, pageSize: 3 });
    await between();
    for (;;) {
      const next = await service.api.getAll({ ...filter, pageSize: 3, after: items.at(-1)?.id });
      if (next.length === 0) return items;
      items.push(...next);
    }
  };

  const storeTies = async (): Promise<{ categoryId: number; category: { categoryId: string } }> => {
    const categoryId = ++lastCategory;
    const createdAt = new Date('2026-01-01T00:00:00Z');
    const boosted = { categoryId, isBoosted: true, boostExpiresAt: null };
    await store(
      service.database,
      ...[1, 2, 3, 4].map(() => record({ categoryId, createdAt })),
      ...[1, 2, 3].map(() => record({ categoryId })),
      ...[5, 5, 5, 5, 1, 0].map((boostScore) => record({ ...boosted, boostScore, createdAt })),
      ...[5, 7].map((boostScore) => record({ ...boosted, boostScore })),
    );
    return { categoryId, category: { categoryId: String(categoryId) } };
  };

  it('a walk with after returns the same items as one large page, with every filter and with equal sort keys', async () => {
    const { category } = await storeTies();
    for (const filter of [category, { ...category, status: 'available' }, { ...category, search: 'bike' }]) {
      const pages = await service.api.getAll({ ...filter, pageSize: 100 });
      expect(pages).toHaveLength(15);
      expect(await walk(filter)).toEqual(pages);
    }
  });

  it('a walk with after neither skips nor repeats items while others are created', async () => {
    const { categoryId, category } = await storeTies();
    const before = await service.api.getAll({ ...category, pageSize: 100 });
    const between = (): Promise<unknown> => service.api.create(validInput({ categoryId: String(categoryId) }));
    const walked = (await walk(category, between)).map(({ id }) => id);
    expect(new Set(walked).size).toBe(walked.length);
    expect(walked).toEqual(expect.arrayContaining(before.map(({ id }) => id)));
  });

  it('getAll continues after an item that has since been hidden or no longer matches the filter', async () => {
    const { category } = await storeTies();
    const all = await service.api.getAll({ ...category, status: 'available', pageSize: 100 });
    const [hidden, sold] = [all[4], all[7]];
    const { items } = service.database.models;
    await items.updateOne({ publicId: hidden?.publicId ?? 0 }, { isVisible: false });
    await items.updateOne({ publicId: sold?.publicId ?? 0 }, { status: 'sold' });
    const filter = { ...category, status: 'available' };
    expect((await service.api.getAll({ ...filter, after: hidden?.id, pageSize: 2 })).map(({ id }) => id)).toEqual([
      all[5]?.id,
      all[6]?.id,
    ]);
    expect((await service.api.getAll({ ...filter, after: sold?.id, pageSize: 1 })).map(({ id }) => id)).toEqual([
      all[8]?.id,
    ]);
  });

  it('a walk with after returns the same favourites as one large page', async () => {
    const stored = await store(service.database, ...Array.from({ length: 8 }, () => record()));
    await addFavourites(service.database, 'walker', stored.slice(0, 4));
    // The others have equal times, so that their order depends on the item's id.
    await service.database.models.favourites.insertMany(
      stored.slice(4).map(({ _id }) => ({ userId: 'walker', itemId: _id, createdAt: new Date(3000) })),
    );
    const pages = await service.api.getAll({ userId: 'walker', pageSize: 100 });
    expect(pages).toHaveLength(8);
    expect(await walk({ userId: 'walker' })).toEqual(pages);
  });

  it('getAll returns an empty list after the last item', async () => {
    const { category } = await storeTies();
    const all = await service.api.getAll(category);
    expect(await service.api.getAll({ ...category, after: all.at(-1)?.id })).toEqual([]);
  });

  it.each(['ffffffffffffffffffffffff', 'x', ''])(
    'getAll refuses to continue after an unknown item: %j',
    async (after) => {
      const inputs = [{}, { userId: 'walker' }, { categoryId: 'no-such-category' }, { userId: 'x'.repeat(2000) }];
      for (const list of inputs) {
        const input = { ...list, after };
        const { status, data } = await service.api.error('getAll', input);
        expect(status).toBe(400);
        expect(data.issues.map(({ path }) => path)).toEqual([['after']]);
      }
    },
  );

  it('getAll refuses to continue a list of favourites after an item that is not a favourite', async () => {
    const [item] = await store(service.database, record());
    const { data } = await service.api.error('getAll', { userId: 'nobody', after: item._id.toHexString() });
    expect(data.issues.map(({ path }) => path)).toEqual([['after']]);
  });

  it('the field after cannot be combined with a page', async () => {
    const { id } = await service.api.create(validInput());
    const { status, data } = await service.api.error('getAll', { after: id, page: 1 });
    expect(status).toBe(400);
    expect(data.issues.map(({ path }) => path)).toEqual([['after']]);
  });
});
