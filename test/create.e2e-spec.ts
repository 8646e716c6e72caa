import { ItemSchema, type Item } from '@app/contracts';
import { mongoId } from '@app/database';
import { mongo } from 'mongoose';
import { eventually } from './support/eventually.js';
import { insertUnreadable, UNREADABLE } from './support/insert-bson.js';
import { record, store, validInput } from './support/items.js';
import { profile } from './support/profile.js';
import { startService, startWorker, type Service } from './support/service.js';

const QUEUED = 200;

describe('create', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ env: { PUBLIC_SITE_URL: 'https://shop.example/' } });
    const { models } = service.database;
    await models.categories.insertMany([{ _id: 7, slug: 'bicycles', title: 'Bicycles' }]);
    await models.brands.insertMany([{ _id: 3, title: 'Gazelle' }]);
    await models.conditions.insertMany([{ _id: 2, title: 'Like new' }]);
  });
  afterAll(() => service.stop());

  const refusedFields = async (input: object): Promise<unknown[]> => {
    const { code, status, data } = await service.api.error('create', input);
    expect({ code, status }).toEqual({ code: 'BAD_REQUEST', status: 400 });
    return data.issues.map(({ path }) => path.join('.'));
  };

  it('create returns the complete item', async () => {
    const input = validInput({
      brandId: 3,
      conditionId: 2,
      isFeatured: true,
      images: ['1.jpg', '2.jpg'],
      photos: [{ url: '1.jpg' }],
    });
    const before = Date.now();
    const item = await service.api.create(input);
    expect(ItemSchema.parse(item)).toEqual(item);
    expect(Object.keys(item)).toHaveLength(35);
    const { id, publicId, createdAt, updatedAt, ...rest } = item;
    expect(id).toMatch(/^[0-9a-f]{24}$/);
    expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before);
    expect(updatedAt).toBe(createdAt);
    const slug = `red-city-bike-${String(publicId)}`;
    expect(rest).toEqual({
      ...input,
      categoryId: 7,
      status: 'available',
      condition: 'Like new',
      sellerId: 'anonymous',
      slug,
      imageUrl: '1.jpg',
      isVisible: true,
      deliveryOptions: [],
      deliveryCost: 0,
      freeShipping: false,
      deliveryTimeEstimate: null,
      brandTitle: 'Gazelle',
      sizeTitle: null,
      discount: null,
      favouriteCount: 0,
      viewCount: 0,
      path: `/items/${slug}`,
      url: `https://shop.example/items/${slug}`,
      visibilityType: 'public',
      isBoosted: false,
      boostScore: 0,
      boostExpiresAt: null,
    });
  });

  it('create stores the fields under their API names, with dates and the request hash but without the URL', async () => {
    const item = await service.api.create(validInput());
    const stored = await service.database.models.items.collection.findOne({ _id: mongoId(item.id) });
    const { id, url, createdAt, updatedAt, ...fields } = item;
    expect(stored).toMatchObject({ ...fields, _id: mongoId(id), createdAt: new Date(createdAt) });
    expect(stored).toHaveProperty('requestHash', expect.stringMatching(/^[\w-]{43}$/));
    expect(stored).toHaveProperty('updatedAt', new Date(updatedAt));
    expect(stored).not.toHaveProperty('url');
    expect(url).toMatch(/^https:/);
  });

  it('create gives every item the next number and a unique slug', async () => {
    const items = await Promise.all(Array.from({ length: 20 }, () => service.api.create(validInput())));
    expect(new Set(items.map(({ publicId }) => publicId)).size).toBe(20);
    expect(new Set(items.map(({ slug }) => slug)).size).toBe(20);
    const counter = await service.database.models.counters.findById('item.publicId').lean();
    expect(counter?.value).toBe(Math.max(...items.map(({ publicId }) => publicId)));
  });

  it('create raises the sequence when its next numbers are taken', async () => {
    const { publicId } = await service.api.create(validInput());
    const highest = publicId + 100;
    const restored = Array.from({ length: 100 }, (_, index) => record({ publicId: publicId + index + 1 }));
    await store(service.database, ...restored);
    const next = await service.api.create(validInput());
    expect(next.publicId).toBeGreaterThan(highest);
  });

  it.each([
    [null, false],
    [false, false],
    [true, true],
  ])('create treats isFeatured %j as %j', async (isFeatured, expected) => {
    expect(await service.api.create(validInput({ isFeatured }))).toHaveProperty('isFeatured', expected);
  });

  it.each([
    ['name', { name: 'abc' }],
    ['description', { description: 'ten chars!' }],
    ['price at least', { price: 0 }],
    ['price at most', { price: 999999.99 }],
    ['stock', { stock: 1 }],
    ['stock at most', { stock: 9007199254740991 }],
    ['images at least', { images: ['a'] }],
    ['images at most', { images: ['a', 'b', 'c', 'd', 'e'] }],
    ['an empty image', { images: [''] }],
    ['photos at least', { photos: [{}] }],
    ['photos at most', { photos: [1, 2, 3, 4, 5] }],
    ['a fraction as a brand', { brandId: 1.5 }],
    ['category 0', { categoryId: '0' }],
    ['the largest category', { categoryId: '9007199254740991' }],
  ])('create accepts a value at its limit: %s', async (_limit, change) => {
    const item = await service.api.create(validInput(change));
    const { categoryId, ...rest } = change as { categoryId?: string };
    expect(item).toMatchObject(categoryId === undefined ? rest : { categoryId: Number(categoryId) });
  });

  it.each([
    ['name', { name: 'ab' }],
    ['name', { name: '🚲🚲' }],
    ['description', { description: 'nine char' }],
    ['price', { price: -0.01 }],
    ['price', { price: 1000000 }],
    ['price', { price: '1' }],
    ['price', { price: null }],
    ['stock', { stock: 0 }],
    ['stock', { stock: 1.5 }],
    ['stock', { stock: true }],
    ['brandId', { brandId: '1' }],
    ['conditionId', { conditionId: [] }],
    ['isFeatured', { isFeatured: 'no' }],
    ['isFeatured', { isFeatured: 0 }],
    ['images', { images: [] }],
    ['images', { images: ['a', 'b', 'c', 'd', 'e', 'f'] }],
    ['images', { images: 'a' }],
    ['images.1', { images: ['a', 1] }],
    ['images.0', { images: [null] }],
    ['photos', { photos: [] }],
    ['photos', { photos: [1, 2, 3, 4, 5, 6] }],
    ['photos', { photos: null }],
    ['photos', { photos: {} }],
    ['categoryId', { categoryId: '' }],
    ['categoryId', { categoryId: 7 }],
    ['categoryId', { categoryId: 'no-such-slug' }],
    ['categoryId', { categoryId: '007' }],
    ['categoryId', { categoryId: '-7' }],
    ['categoryId', { categoryId: '7.0' }],
    ['categoryId', { categoryId: '9007199254740992' }],
  ])('create refuses an invalid %s: %j', async (field, change) => {
    expect(await refusedFields(validInput(change))).toEqual([field]);
  });

  it.each(['name', 'description', 'price', 'categoryId', 'stock', 'brandId', 'conditionId', 'isFeatured', 'images'])(
    'create refuses an input without %s',
    async (field) => {
      expect(await refusedFields({ ...validInput(), [field]: undefined })).toEqual([field]);
    },
  );

  it('create reports all issues at once, including an unknown category', async () => {
    const input = { name: 'ab', description: null, price: -1, categoryId: 'nowhere', stock: 0, images: [], photos: [] };
    expect((await refusedFields(input)).sort()).toEqual(
      [
        'name',
        'description',
        'price',
        'categoryId',
        'stock',
        'brandId',
        'conditionId',
        'isFeatured',
        'images',
        'photos',
      ].sort(),
    );
  });

  it.each([[null], [[]], ['text'], [1]])('create refuses %j, which is not an object', async (input) => {
    expect(await refusedFields(input as unknown as object)).toEqual(['']);
  });

  it.each([
    ['Decimal128', mongo.Decimal128.fromString('8'), 8],
    ['Long', mongo.Long.fromNumber(9), 9],
    ['text', '10', undefined],
    ['a fraction', 1.5, undefined],
    ['negative', -3, undefined],
    ['NaN', NaN, undefined],
    ['beyond 2^53', mongo.Long.fromString('9007199254740993'), undefined],
    ['an ObjectId', new mongo.ObjectId(), undefined],
  ])(
    'create accepts a category slug that another service stores only if its number is valid: %s',
    async (what, _id, number) => {
      const slug = `odd-${what.replaceAll(/\W/g, '')}`.toLowerCase();
      await service.database.models.categories.collection.insertOne({ _id, slug, title: 'Odd' } as never);
      const { status, body } = await service.api.call('create', validInput({ categoryId: slug }));
      expect([status, (body as Partial<Item>).categoryId]).toEqual(
        number === undefined ? [400, undefined] : [200, number],
      );
    },
  );

  it('create refuses the slug of a category whose number cannot be read', async () => {
    const slug = 'unreadable';
    const uri = service.env['MONGODB_URI'] ?? '';
    await insertUnreadable(uri, 'categories', { _id: UNREADABLE, slug, title: 'Odd' });
    expect(await refusedFields(validInput({ categoryId: slug }))).toEqual(['categoryId']);
    expect((await service.api.call('getAll', { categoryId: slug })).body).toEqual([]);
  });

  it('create accepts the slug of a category', async () => {
    expect(await service.api.create(validInput({ categoryId: 'bicycles' }))).toMatchObject({ categoryId: 7 });
  });

  it('create accepts unknown brands, conditions and categories', async () => {
    const unknown = { brandId: 999, conditionId: 999, categoryId: '999' };
    expect(await service.api.create(validInput(unknown))).toMatchObject({
      brandId: 999,
      conditionId: 999,
      categoryId: 999,
      brandTitle: null,
      condition: null,
    });
  });

  it('create finds a new brand at once, because missing brands are not cached', async () => {
    expect(await service.api.create(validInput({ brandId: 50 }))).toHaveProperty('brandTitle', null);
    await service.database.models.brands.insertMany([{ _id: 50, title: 'Newcomer' }]);
    expect(await service.api.create(validInput({ brandId: 50 }))).toHaveProperty('brandTitle', 'Newcomer');
  });

  it('create ignores server fields and unknown keys', async () => {
    const sent = { id: 'x', publicId: 1, status: 'sold', slug: 'mine', sellerId: 'me', boostScore: 9, whatever: [1] };
    const item = await service.api.create(validInput(sent));
    expect(item).toMatchObject({ status: 'available', sellerId: 'anonymous', boostScore: 0 });
    expect(item.id).not.toBe('x');
    expect(item).not.toHaveProperty('whatever');
  });

  it('create returns photos as sent, or an empty list if there are none', async () => {
    const photos = [{}, null, 'text', [1, [2]], { a: { b: [true, 0.1, 'ж'] } }];
    expect(await service.api.create(validInput({ photos }))).toHaveProperty('photos', photos);
    expect(await service.api.create(validInput())).toHaveProperty('photos', []);
  });

  it.each([
    ['Горный велосипед', /^gornyy-velosiped-\d+$/],
    ['山地自行车', /^shan-di-zi-xing-che-\d+$/],
    ['🚲🚲🚲', /^item-\d+$/],
    ['x'.repeat(200), /^x{80}-\d+$/],
  ])('create derives a slug from %s', async (name, slug) => {
    expect((await service.api.create(validInput({ name }))).slug).toMatch(slug);
  });
});

describe('creates that wait in the queue', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ worker: false });
  });
  afterAll(() => service.stop());

  it('creates that wait in the queue look up their brands and conditions together, even if none exists', async () => {
    const inputs = Array.from({ length: QUEUED }, (_, n) => validInput({ brandId: 1000 + n, conditionId: 1000 + n }));
    for (const input of inputs) {
      expect((await service.api.call('create', input, { Prefer: 'respond-async' })).status).toBe(202);
    }
    const queries = await profile(service.database);
    const worker = await startWorker(service.env);
    await eventually(async () => {
      expect(await service.database.models.items.countDocuments()).toBe(QUEUED);
    });
    const collections = (await queries()).map(({ command }) => command.find);
    for (const collection of ['brands', 'conditions']) {
      const count = collections.filter((name) => name === collection).length;
      expect([collection, count > 0 && count <= QUEUED / 10]).toEqual([collection, true]);
    }
    await worker.stop();
  });
});
