import { CreateItemInputSchema } from '@app/contracts';
import { ItemLineSchema, importedItemId, toRecord, type ItemLine } from './item-line.js';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const line = { number: 1, text: '{"name":"Red bike"}', value: {} };
const input = {
  name: 'Red bike',
  description: 'Three gears, new tyres.',
  price: 10,
  categoryId: '7',
  stock: 1,
  brandId: null,
  conditionId: null,
  isFeatured: null,
  images: ['https://images.example.com/1.jpg'],
};
/** All fields that may change after the create. */
const changed = {
  status: 'sold',
  sellerId: 's',
  createdAt: '2026-01-01T00:00:00+01:00',
  updatedAt: '2026-01-02T00:00:00Z',
  isBoosted: true,
  boostScore: 2.5,
  boostExpiresAt: null,
  isVisible: false,
  favouriteCount: 1,
  viewCount: 2,
  deliveryOptions: ['pickup'],
  deliveryCost: 4.99,
  freeShipping: true,
  deliveryTimeEstimate: '1-2 days',
  sizeTitle: 'XL',
  discount: '-10%',
} satisfies Partial<ItemLine>;

function recordOf(changes: Partial<ItemLine>) {
  const data = ItemLineSchema.parse({ ...input, ...changes });
  const item = { id: importedItemId(line, data.externalId), line, data, categoryId: 7 };
  return toRecord(item, { publicId: 5, brandTitle: 'Canyon', condition: null, now: NOW });
}

const pathsOf = (value: object) =>
  ItemLineSchema.safeParse({ ...input, ...value }).error?.issues.map(({ path }) => path.join('.'));

describe('ItemLineSchema', () => {
  it('a line of an import may have the input of create, and all fields that may change after the create', () => {
    expect(pathsOf({})).toBeUndefined();
    expect(pathsOf({ ...changed, externalId: 'a1' })).toBeUndefined();
    expect(pathsOf({ deliveryTimeEstimate: null, sizeTitle: null, discount: null })).toBeUndefined();
  });

  it.each([
    ['name', { name: 'ab' }],
    ['externalId', { externalId: '' }],
    ['status', { status: 'all' }],
    ['createdAt', { createdAt: '2026-02-30T00:00:00Z' }],
    ['createdAt', { createdAt: null }],
    ['updatedAt', { updatedAt: 1_700_000_000 }],
    ['createdAt', { createdAt: '9999-12-31T23:59:59-01:00' }],
    ['updatedAt', { updatedAt: '0000-01-01T00:00:00+01:00' }],
    ['boostExpiresAt', { boostExpiresAt: '9999-12-31T23:59:59.999-00:01' }],
    ['viewCount', { viewCount: -1 }],
    ['favouriteCount', { favouriteCount: 0.5 }],
    ['boostScore', { boostScore: Infinity }],
    ['deliveryOptions.0', { deliveryOptions: [1] }],
    ['deliveryCost', { deliveryCost: 1_000_000 }],
    ['sizeTitle', { sizeTitle: '\uD800' }],
  ])('a line of an import is rejected if its %s is not valid', (path, value) => {
    expect(pathsOf(value)).toEqual([path]);
  });
});

describe('a time of ItemLineSchema', () => {
  it.each(['0000-01-01T00:00:00Z', '0000-01-01T01:00:00+01:00', '9999-12-31T23:59:59.999Z'])(
    'a time may be any that an item can have: %s',
    (time) => {
      expect(pathsOf({ createdAt: time, updatedAt: time, boostExpiresAt: time })).toBeUndefined();
    },
  );

  it('a time that no item can have is reported with the possible years', () => {
    const { error } = ItemLineSchema.safeParse({ ...input, createdAt: '9999-12-31T23:59:59-01:00' });
    expect(error?.issues.map(({ message }) => message)).toEqual(['Time outside the years 0000 to 9999 in UTC']);
  });
});

describe('importedItemId', () => {
  it('the id of an imported item is derived from externalId, or from the text without one', () => {
    const other = { text: 'other' };
    expect(importedItemId(line, 'a')).toMatch(/^[0-9a-f]{24}$/);
    expect(importedItemId(line, 'a')).toBe(importedItemId(other, 'a'));
    expect(importedItemId(line, 'a')).not.toBe(importedItemId(line, 'b'));
    expect(importedItemId(line, undefined)).toBe(importedItemId({ text: line.text }, undefined));
    expect(importedItemId(line, undefined)).not.toBe(importedItemId(other, undefined));
    expect(importedItemId({ text: 'a' }, undefined)).not.toBe(importedItemId(line, 'a'));
  });
});

describe('toRecord', () => {
  it('the record of an imported item is the one that create stores for the same input', () => {
    expect(recordOf({})).toMatchObject({
      publicId: 5,
      slug: 'red-bike-5',
      status: 'available',
      sellerId: 'anonymous',
      createdAt: NOW,
      updatedAt: NOW,
      isVisible: true,
      isBoosted: false,
      boostScore: 0,
      boostExpiresAt: null,
      searchTerms: expect.arrayContaining(['red', 'canyon', 'cany', 'gears']) as string[],
    });
  });

  it('the record of an imported item has all fields of its line that may change after the create', () => {
    const names = Object.keys(ItemLineSchema.shape).filter((name) => !(name in CreateItemInputSchema.shape));
    expect(['externalId', ...Object.keys(changed)]).toEqual(names);
    const [createdAt, updatedAt] = [new Date(changed.createdAt), new Date(changed.updatedAt)];
    expect(recordOf(changed)).toMatchObject({ ...changed, createdAt, updatedAt });
  });

  it('the updatedAt of an imported item is its createdAt, unless the line contains it', () => {
    const createdAt = '2026-01-01T00:00:00.000Z';
    expect(recordOf({ createdAt })).toMatchObject({ createdAt: new Date(createdAt), updatedAt: new Date(createdAt) });
    expect(recordOf({ createdAt, updatedAt: NOW.toISOString() })).toMatchObject({ updatedAt: NOW });
  });

  it.each([
    ['endless', { isBoosted: true, boostScore: 5 }, { isBoosted: true, boostScore: 5 }],
    ['active', { isBoosted: true, boostScore: 5, boostExpiresAt: '2026-03-01T12:00:00.001Z' }, { boostScore: 5 }],
    [
      'lapsed',
      { isBoosted: true, boostScore: 5, boostExpiresAt: '2026-03-01T12:00:00.000Z' },
      { isBoosted: false, boostScore: 0 },
    ],
    ['switched off', { isBoosted: false, boostScore: 5 }, { isBoosted: false, boostScore: 0 }],
  ])('the score of an imported item is kept only if the boost is active: %s', (_, changes, expected) => {
    expect(recordOf(changes)).toMatchObject(expected);
  });
});
