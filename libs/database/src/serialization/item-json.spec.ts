import { isUtf8 } from 'node:buffer';
import { ITEM_FIELDS, ItemSchema } from '@app/contracts';
import { TimeoutError } from '@app/runtime';
import { mongo } from 'mongoose';
import { itemJson, itemsJson } from './item-json.js';
import type { ItemRecord } from '../item-record.js';
import { type MalformedItem, toItemWithoutUrl } from './plain-item.js';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const NO_DEADLINE = Infinity;
const VIEW = { now: NOW, siteUrl: 'https://shop.example' };

function stored(changes: object = {}): Omit<ItemRecord, 'requestHash'> {
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

/** Returns the Item of a stored document whose values all have the form of JSON. */
function itemOf(changes: object = {}): object {
  const { _id: id, ...fields } = stored(changes);
  const item = { id, ...fields, url: `https://shop.example${fields.path}` };
  return JSON.parse(JSON.stringify(item)) as object;
}

/** Returns the Item that the driver and JSON.stringify produce, or the field that makes the document malformed. */
function byDriver(document: object): unknown {
  try {
    const item = toItemWithoutUrl(mongo.BSON.deserialize(mongo.BSON.serialize(document)), NOW);
    return JSON.parse(JSON.stringify({ ...item, url: `https://shop.example${item.path}` }));
  } catch (error) {
    return (error as MalformedItem).field;
  }
}

/** Returns the Item, or the field that makes the document malformed. */
function serialized(document: object): unknown {
  try {
    return JSON.parse(itemJson(mongo.BSON.serialize(document), VIEW).toString());
  } catch (error) {
    return (error as MalformedItem).field;
  }
}

describe('itemJson', () => {
  const photo = { url: 'x', 'a "key"\\\n': { deep: [[], {}, [null, true, [1.5]]] }, '': '', 10: 'ten', 2: 'two' };
  it.each([
    ['as the worker stores it', {}],
    ['escapes', { name: 'He said "hi" \\ \n\t\u0000\u001f\u007f\u2028 end', description: '"', slug: '\\' }],
    ['scripts and emoji', { name: 'Ёлка 捷安特 كرسي 🛴 𐌰', path: '/items/ёлка-"12"' }],
    ['empty texts', { name: '', description: '' }],
    [
      'whole, broken, large and negative numbers',
      {
        price: 1e308,
        stock: -5,
        deliveryCost: 0.1,
        viewCount: 2 ** 40,
        publicId: 2 ** 31 - 1,
        favouriteCount: 1_234_567_890,
      },
    ],
    ['minus zero', { price: -0 }],
    ['photos of any shape', { photos: [photo, [photo], 'text', 1, null, false] }],
    ['a field that objects have a setter for', { photos: [JSON.parse('{"__proto__":{"a":1},"b":2}')] }],
    ['a date and an id inside', { photos: [{ takenAt: NOW, of: new mongo.ObjectId() }] }],
    ['a boost that lasts', { isBoosted: true, boostScore: 5, boostExpiresAt: new Date(NOW.getTime() + 1) }],
    ['a boost without end', { isBoosted: true, boostScore: 5, boostExpiresAt: null }],
    ['times before 1970', { createdAt: new Date(-1), boostExpiresAt: new Date(-86_400_000) }],
  ])('itemJson returns the values as they are stored: %s', (_what, changes) => {
    expect(serialized(stored(changes))).toEqual(itemOf(changes));
    expect(ItemSchema.safeParse(itemOf(changes)).error).toBeUndefined();
  });

  it.each(['"', '\\', '\n', '\u0000', '\u001f'])('itemJson escapes %j anywhere in a long text', (escaped) => {
    for (let at = 120; at < 130; at++) {
      const description = `${'a !\u007fü中'.repeat(20).slice(0, at)}${escaped}${'z'.repeat(129 - at)}`;
      expect(serialized(stored({ description }))).toMatchObject({ description });
    }
  });

  it('itemJson returns the fields in their order, and none of other services', () => {
    const item = serialized(stored({ internal: { secret: 1 }, note: 'x' })) as object;
    expect(item).toEqual(itemOf());
    expect(Object.keys(item)).toEqual([...ITEM_FIELDS.map(({ name }) => name), 'url']);
  });

  it('itemJson returns a lapsed boost as inactive, with a score of 0', () => {
    const ended = stored({ isBoosted: true, boostScore: 5, boostExpiresAt: NOW });
    expect(serialized(ended)).toMatchObject({ isBoosted: false, boostScore: 0, boostExpiresAt: NOW.toISOString() });
  });

  it.each([
    [{ price: new mongo.Decimal128('12.50') }, { price: 12.5 }],
    [{ price: new mongo.Decimal128('1E+3') }, { price: 1000 }],
    [{ stock: new mongo.Decimal128('-0.0') }, { stock: 0 }],
    [
      { stock: mongo.Long.fromNumber(7), viewCount: 3.0 },
      { stock: 7, viewCount: 3 },
    ],
    [{ updatedAt: '2026-11-21T12:00:00+01:00' }, { updatedAt: '2026-11-21T11:00:00.000Z' }],
    [{ updatedAt: mongo.Long.fromNumber(NOW.getTime()) }, { updatedAt: NOW.toISOString() }],
    [
      { favouriteCount: mongo.Long.fromNumber(2 ** 50), boostScore: new mongo.Double(3) },
      { favouriteCount: 2 ** 50, boostScore: 3 },
    ],
    [{ photos: [new mongo.Decimal128('1.5'), new mongo.Binary(Buffer.from('x'))] }, { photos: [1.5, 'eA=='] }],
    [{ photos: [NaN, mongo.Long.fromString('9007199254740993')] }, { photos: [null, '9007199254740993'] }],
    [{ boostExpiresAt: NOW.getTime() }, { boostExpiresAt: NOW.toISOString() }],
    [{ sellerId: new mongo.ObjectId('0123456789abcdef01234567') }, { sellerId: '0123456789abcdef01234567' }],
  ])('itemJson accepts other types that another service writes: %j', (changes, item) => {
    expect(serialized(stored(changes))).toMatchObject(item);
    expect(ItemSchema.safeParse(serialized(stored(changes))).error).toBeUndefined();
  });

  it.each([
    ['price', new mongo.Decimal128('0.1234567890123456789')],
    ['price', NaN],
    ['price', '12.5'],
    ['publicId', 0],
    ['stock', 5.5],
    ['favouriteCount', mongo.Long.fromString('9007199254740993')],
    ['name', 5],
    ['name', null],
    ['status', 'lost'],
    ['isVisible', 1],
    ['updatedAt', 'yesterday'],
    ['updatedAt', '2026-11-21'],
    ['updatedAt', new Date(8.64e15)],
    ['updatedAt', mongo.Long.fromString('9000000000000000000')],
    ['deliveryOptions', ['post', 1]],
    ['deliveryOptions', 'post'],
    ['images', null],
    ['photos', {}],
    ['id', '0123456789abcdef01234567'],
    ['id', { toString: 1 }],
    ['id', null],
  ])('itemJson rejects a document whose %s is %j', (field, value) => {
    expect(serialized(stored({ [field === 'id' ? '_id' : field]: value }))).toBe(field);
  });

  it.each([
    ['a string', 'abc', 'abc'],
    ['a long string, by its start', 'a'.repeat(1000), 'a'.repeat(100)],
    ['a number', 7, '7'],
    ['an object, as unknown', { toString: 1 }, 'unknown'],
  ])('itemJson names a document whose id is %s', (_, id, shown) => {
    const document = mongo.BSON.serialize(stored({ _id: id }));
    expect(() => itemJson(document, VIEW)).toThrow(`item ${shown} has no usable id`);
  });

  it.each([
    ['dates', NOW],
    ['ids', new mongo.ObjectId()],
    ['decimals', new mongo.Decimal128('1.5')],
    ['64-bit integers', mongo.Long.fromString('9007199254740993')],
  ])('itemJson converts 10,000 %s in photos, but not more', (_, value) => {
    const photos = Array.from({ length: 100 }, () => ({ taken: Array.from({ length: 100 }, () => value) }));
    expect(serialized(stored({ photos }))).toMatchObject({ photos: { length: 100 } });
    expect(serialized(stored({ photos: [...photos, value] }))).toBe('photos');
    expect(serialized(stored({ photos: Array.from({ length: 20_000 }, () => 1.5) }))).not.toBe('photos');
  });

  it('itemJson converts and counts the values in what the driver reads as a DBRef or Code', () => {
    const wrap = (value: unknown): object[] => [
      { $ref: 'media', $id: value, more: [value] },
      new mongo.Code('f', { value: [value] }),
    ];
    expect(serialized(stored({ photos: wrap(new mongo.Decimal128('1.5')) }))).toMatchObject({
      photos: [
        { $ref: 'media', $id: 1.5, more: [1.5] },
        { code: 'f', scope: { value: [1.5] } },
      ],
    });
    for (const photo of wrap(Array.from({ length: 10_001 }, () => new mongo.Decimal128('1.5'))))
      expect(serialized(stored({ photos: [photo] }))).toBe('photos');
  });

  it('itemJson rejects a document whose JSON is too large to be sent alone', () => {
    const withText = (length: number): unknown => serialized(stored({ description: '\u0001'.repeat(length) }));
    expect(withText(5_000_000)).toMatchObject({ publicId: 12 });
    expect(withText(6_000_000)).toBe('JSON: it is too large');
  });

  it('itemJson returns null for a missing nullable field, and rejects a document without any other field', () => {
    for (const { name, isNullable } of ITEM_FIELDS.filter((field) => field.name !== 'id')) {
      const rest = Object.fromEntries(Object.entries(stored()).filter(([other]) => other !== name));
      expect(serialized(rest)).toEqual(isNullable ? itemOf({ [name]: null }) : name);
    }
  });

  it('itemJson serializes large items, and usual ones after these', () => {
    for (const description of ['a'.repeat(2_000_000), '"'.repeat(1_000_000), 'ü\n'.repeat(300_000)]) {
      expect(serialized(stored({ description }))).toEqual(itemOf({ description }));
      expect(serialized(stored())).toEqual(itemOf());
      expect(serialized(stored({ description, price: 'none' }))).toBe('price');
      expect(serialized(stored())).toEqual(itemOf());
    }
  });

  it('itemJson accepts a site and texts of any script', () => {
    const document = mongo.BSON.serialize(stored({ path: '/items/é"\n' }));
    const json = itemJson(document, { now: NOW, siteUrl: 'https://bücher.example' });
    expect(JSON.parse(json.toString())).toMatchObject({ url: 'https://bücher.example/items/é"\n' });
  });

  it('itemJson replaces invalid UTF-8 with U+FFFD', () => {
    const document = Buffer.from(mongo.BSON.serialize(stored({ name: 'Red ?? bike' })));
    document.fill(0xff, document.indexOf('??'), document.indexOf('??') + 2);
    const json = itemJson(document, VIEW);
    expect(isUtf8(json)).toBe(true);
    expect(JSON.parse(json.toString())).toMatchObject({ name: 'Red \ufffd\ufffd bike' });
  });

  it('itemJson accepts stored fields in any order', () => {
    const reversed = Object.fromEntries(Object.entries(stored()).reverse());
    expect(serialized(reversed)).toEqual(itemOf());
  });

  it('itemJson returns a valid Item of random values or names one of them, as with the driver', () => {
    const values = [
      ...[0, -1, 1.5, 2 ** 31, 2 ** 53, NaN, Infinity, true, false, null, undefined, '', 'text', 'available'],
      ...[NOW, new Date(NaN), new Date(8.64e15), '2026-11-21T12:00:00Z', [], ['a'], [1], [[{ a: null }]], {}, { a: 1 }],
      ...['12.5', '1E+20', 'NaN', '-0'].map((text) => new mongo.Decimal128(text)),
      ...[7, 2 ** 60].map((number) => mongo.Long.fromNumber(number)),
      ...[new mongo.ObjectId(), new mongo.Binary(Buffer.from('x')), new mongo.Timestamp({ t: 1, i: 2 }), /x/],
    ];
    const random = (below: number): number => Math.floor(Math.random() * below);
    for (let round = 0; round < 3000; round++) {
      const changes = Array.from({ length: 1 + random(3) }, () => [
        ITEM_FIELDS[1 + random(ITEM_FIELDS.length - 1)]?.name ?? '',
        values[random(values.length)],
      ]);
      const document = stored(Object.fromEntries(changes) as object);
      const item = serialized(document);
      expect({ changes, item }).toEqual({ changes, item: byDriver(document) });
      const isNamed = changes.some(([name]) => name === item);
      expect({ changes, isValid: isNamed || ItemSchema.safeParse(item).success }).toEqual({ changes, isValid: true });
    }
  });

  it('itemsJson serializes a list of items of any size, without the malformed ones', async () => {
    const large = { description: 'ü"'.repeat(50_000) };
    const changes = [{ stock: 'many' }, {}, large, { name: null }, { price: new mongo.Decimal128('1') }];
    const fields: string[] = [];
    const list = await itemsJson(
      changes.map((each) => mongo.BSON.serialize(stored(each))),
      VIEW,
      NO_DEADLINE,
      ({ field }) => fields.push(field),
    );
    expect(JSON.parse(list.toString())).toEqual([itemOf(), itemOf(large), itemOf({ price: 1 })]);
    expect(fields).toEqual(['stock', 'name']);
    expect((await itemsJson([], VIEW, NO_DEADLINE, () => undefined)).toString()).toBe('[]');
  });

  it('itemsJson serializes an item again if it has changed, if its boost has lapsed, and for another site', async () => {
    const list = async (changes: object, view = VIEW): Promise<unknown> => {
      const json = await itemsJson([mongo.BSON.serialize(stored(changes))], view, NO_DEADLINE, () => undefined);
      return JSON.parse(json.toString());
    };
    const boostExpiresAt = new Date(NOW.getTime() + 1000);
    const boosted = { isBoosted: true, boostScore: 5, boostExpiresAt };
    for (const changes of [{}, {}, { price: 1 }, { name: 'Blue' }, boosted, boosted])
      expect(await list(changes)).toEqual([itemOf(changes)]);
    expect(await list(boosted, { ...VIEW, now: boostExpiresAt })).toMatchObject([{ isBoosted: false, boostScore: 0 }]);
    const siteUrl = 'https://other.example';
    expect(await list(boosted, { ...VIEW, siteUrl })).toMatchObject([{ url: `${siteUrl}/items/red-city-bike-12` }]);
  });

  const largeItems = (): Uint8Array[] => {
    const photos = [Array.from({ length: 16_000 }, (_, index) => index + 0.5)];
    return Array<Uint8Array>(50).fill(mongo.BSON.serialize(stored({ photos })));
  };

  it('itemsJson lets other work run while it serializes large items', async () => {
    let turns = 0;
    const other = setInterval(() => turns++, 0);
    await itemsJson(largeItems(), VIEW, NO_DEADLINE, () => undefined);
    clearInterval(other);
    expect(turns).toBeGreaterThan(5);
  });

  it('itemsJson stops serializing large items at the deadline', async () => {
    const malformed = mongo.BSON.serialize(stored({ stock: 'many' }));
    const found: MalformedItem[] = [];
    const list = itemsJson([...largeItems(), malformed], VIEW, performance.now(), (error) => found.push(error));
    await expect(list).rejects.toThrow(TimeoutError);
    expect(found).toEqual([]);
  });
});
