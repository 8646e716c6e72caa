import { mongo } from 'mongoose';
import { itemJson, itemsJson } from './item-json.js';
import { toSitelessItem, type StoredItem } from './item-record.js';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const VIEW = { now: NOW, siteUrl: 'https://shop.example' };

function stored(changes: object = {}): StoredItem {
  return {
    _id: new mongo.ObjectId('0123456789abcdef01234567'),
    publicId: 12,
    name: 'Red city bike',
    description: 'Three gears.',
    price: 149.5,
    status: 'available',
    condition: null,
    stock: 1,
    categoryId: 7,
    sellerId: 'anonymous',
    brandId: null,
    conditionId: 3,
    isFeatured: false,
    slug: 'red-city-bike-12',
    imageUrl: 'https://images.example.com/bike.jpg',
    isVisible: true,
    createdAt: new Date('2026-11-20T01:02:03.004Z'),
    updatedAt: new Date('2026-11-20T01:02:03.004Z'),
    deliveryOptions: [],
    deliveryCost: 0,
    freeShipping: false,
    deliveryTimeEstimate: null,
    brandTitle: 'Brand',
    sizeTitle: null,
    discount: null,
    favouriteCount: 0,
    viewCount: 0,
    path: '/items/red-city-bike-12',
    visibilityType: 'public',
    isBoosted: false,
    boostScore: 0,
    boostExpiresAt: null,
    images: ['https://images.example.com/bike.jpg'],
    photos: [],
    ...changes,
  };
}

/** What the driver's reader and JSON.stringify make of the same document. */
function expected(document: StoredItem): unknown {
  const item = toSitelessItem(mongo.BSON.deserialize(mongo.BSON.serialize(document)) as StoredItem, NOW);
  return JSON.parse(JSON.stringify({ ...item, url: `https://shop.example${item.path}` }));
}

const answered = (document: StoredItem): unknown =>
  JSON.parse(itemJson(mongo.BSON.serialize(document), VIEW).toString());

describe('the JSON of an item, straight from BSON', () => {
  const photo = { url: 'x', 'a "key"\\\n': { deep: [[], {}, [null, true, [1.5]]] }, '': '', 10: 'ten', 2: 'two' };
  it.each([
    ['as the worker stores it', {}],
    ['escapes', { name: 'He said "hi" \\ \n\t\u0000\u001f\u007f\u2028 end', description: '"', slug: '\\' }],
    ['scripts and emoji', { name: 'Ёлка 捷安特 كرسي 🛴 𐌰', path: '/items/ёлка-"12"' }],
    ['empty texts', { name: '', description: '' }],
    ['whole, broken, large and negative numbers', { price: 1e308, stock: -5, deliveryCost: 0.1, viewCount: 2 ** 40 }],
    ['minus zero', { price: -0 }],
    ['what is no number in JSON', { price: NaN, deliveryCost: Infinity }],
    ['64-bit numbers', { favouriteCount: mongo.Long.fromNumber(2 ** 50), boostScore: new mongo.Double(3) }],
    ['64-bit numbers that no double holds', { favouriteCount: mongo.Long.fromString('9007199254740993') }],
    ['photos of any shape', { photos: [photo, [photo], 'text', 1, null, false] }],
    ['types that JSON has no form for', { photos: [new mongo.Decimal128('1.5'), new mongo.Binary(Buffer.from('x'))] }],
    ['a date and an id inside', { photos: [{ takenAt: NOW, of: new mongo.ObjectId() }] }],
    ['fields of other services', { internal: { secret: 1 }, note: 'x' }],
    ['another type than expected', { deliveryTimeEstimate: 3, images: null }],
    ['a boost that lasts', { isBoosted: true, boostScore: 5, boostExpiresAt: new Date(NOW.getTime() + 1) }],
    ['a boost that ends now', { isBoosted: true, boostScore: 5, boostExpiresAt: NOW }],
    ['a boost without end', { isBoosted: true, boostScore: 5, boostExpiresAt: null }],
    ['times before 1970', { createdAt: new Date(-1), boostExpiresAt: new Date(-86_400_000) }],
    ['a year of five digits', { updatedAt: new Date(8.64e15) }],
  ])('is what the driver would make of it: %s', (_what, changes) => {
    const document = stored(changes);
    expect(answered(document)).toEqual(expected(document));
  });

  it('has its fields in the order of other answers', () => {
    expect(Object.keys(answered(stored()) as object)).toEqual(Object.keys(expected(stored()) as object));
  });

  it('has null for what another service has unset', () => {
    const { boostExpiresAt, deliveryTimeEstimate, brandTitle, sizeTitle, discount, ...rest } = stored();
    expect(answered(rest as StoredItem)).toEqual({ ...(expected(stored({ brandTitle: null })) as object) });
    expect([boostExpiresAt, deliveryTimeEstimate, brandTitle, sizeTitle, discount]).toHaveLength(5);
  });

  it('has its fields in any order', () => {
    const reversed = Object.fromEntries(Object.entries(stored()).reverse()) as unknown as StoredItem;
    expect(answered(reversed)).toEqual(expected(stored()));
  });

  it('fails where a field is gone that has to be there', () => {
    const { createdAt, ...rest } = stored();
    expect(createdAt).toBeDefined();
    expect(() => answered(rest as StoredItem)).toThrow(TypeError);
  });

  it('is one list for many, whatever their size', () => {
    const documents = [
      stored(),
      stored({ description: 'ü"'.repeat(50_000) }),
      stored({ price: new mongo.Decimal128('1') }),
    ];
    const list = itemsJson(
      documents.map((document) => mongo.BSON.serialize(document)),
      VIEW,
    );
    expect(JSON.parse(list.toString())).toEqual(documents.map(expected));
    expect(itemsJson([], VIEW).toString()).toBe('[]');
  });
});
