import { createHash } from 'node:crypto';
import { mongo } from 'mongoose';
import { FAVOURITE_POSITIONS } from './favourites-reader.js';
import { decodeCursor, encodeCursor } from './list-cursor.js';
import { LIST_POSITIONS } from './list-position.js';

const POSITION = { isBoosted: true, boostScore: 0.1, createdAt: new Date(1_790_000_000_123), publicId: 2 ** 53 - 1 };
const FAVOURITE = { itemId: new mongo.ObjectId(), createdAt: new Date(-1) };
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const CHARACTERS = Array.from(`${LETTERS}=.~ /\n\u0000é`);

const decimal = (text: string): mongo.Decimal128 => mongo.Decimal128.fromString(text);
const ofList = (text: string): unknown => decodeCursor(LIST_POSITIONS, text);
const ofFavourites = (text: string): unknown => decodeCursor(FAVOURITE_POSITIONS, text);
/** They differ in length, and so in the bits that the last letter encodes. */
const CURSORS = [
  { of: 'a boosted item', cursor: encodeCursor(LIST_POSITIONS, POSITION), decode: ofList },
  { of: 'an item', cursor: encodeCursor(LIST_POSITIONS, { ...POSITION, isBoosted: false }), decode: ofList },
  { of: 'a favourite', cursor: encodeCursor(FAVOURITE_POSITIONS, FAVOURITE), decode: ofFavourites },
];

describe('a cursor', () => {
  const cursor = encodeCursor(LIST_POSITIONS, POSITION);

  it('a cursor holds a position exactly, in at most 200 URL-safe characters', () => {
    expect(decodeCursor(LIST_POSITIONS, cursor)).toEqual(POSITION);
    expect(cursor).toMatch(/^[\w-]{1,200}$/);
    expect(decodeCursor(FAVOURITE_POSITIONS, encodeCursor(FAVOURITE_POSITIONS, FAVOURITE))).toEqual(FAVOURITE);
  });

  it('a cursor holds decimals exactly', () => {
    const [boostScore, createdAt] = [decimal('-0.1'), decimal('9.999999999999999999999999999999999E-6111')];
    const position = { ...POSITION, boostScore, createdAt };
    expect(decodeCursor(LIST_POSITIONS, encodeCursor(LIST_POSITIONS, position))).toEqual(position);
  });

  it('a cursor is rejected for another kind of list', () => {
    expect(decodeCursor(FAVOURITE_POSITIONS, cursor)).toBeUndefined();
    expect(decodeCursor(LIST_POSITIONS, encodeCursor(FAVOURITE_POSITIONS, FAVOURITE))).toBeUndefined();
  });

  it.each(CURSORS)('a cursor of $of is rejected if any of its characters is replaced', ({ cursor, decode }) => {
    const altered = Array.from(cursor).flatMap((letter, at) =>
      CHARACTERS.filter((other) => other !== letter).map((other) => cursor.slice(0, at) + other + cursor.slice(at + 1)),
    );
    expect(altered.filter((text) => decode(text) !== undefined)).toEqual([]);
    expect(decode(cursor)).toBeDefined();
  });

  it.each(CURSORS)('a cursor of $of is rejected if it is shorter or longer', ({ cursor, decode }) => {
    const altered = [
      ...Array.from(cursor, (_, length) => cursor.slice(0, length)),
      ...Array.from(cursor, (_, start) => cursor.slice(start + 1)),
      ...[...CHARACTERS, 'AA', '==', cursor, 'A'.repeat(10_000)].flatMap((more) => [cursor + more, more + cursor]),
    ];
    expect(altered.filter((text) => decode(text) !== undefined)).toEqual([]);
  });

  it('a cursor holds the longest values of a position in at most 200 characters', () => {
    const longest = decimal('-9.999999999999999999999999999999999E-6111');
    const createdAt = '2026-01-01T00:00:02.123456789+01:00';
    const position = { isBoosted: true, boostScore: longest, createdAt, publicId: longest };
    const encoded = encodeCursor(LIST_POSITIONS, position);
    expect(encoded).toMatch(/^[\w-]{1,200}$/);
    expect(decodeCursor(LIST_POSITIONS, encoded)).toEqual(position);
  });

  const forged = (payload: Uint8Array): string => {
    const checksum = createHash('sha256').update('2 list ').update(payload).digest().subarray(0, 6);
    return Buffer.concat([checksum, payload]).toString('base64url');
  };
  const { serialize } = mongo.BSON;
  /** Replaces bytes of a BSON document, to make one that the driver would not write. */
  const replaced = (document: object, from: string, to: string): Buffer =>
    Buffer.from(Buffer.from(serialize(document)).toString('latin1').replace(from, to), 'latin1');

  it('a forged cursor is accepted if its payload is a position', () => {
    expect(decodeCursor(LIST_POSITIONS, forged(serialize(POSITION)))).toEqual(POSITION);
  });

  it.each<[string, Uint8Array]>([
    ['empty', Buffer.alloc(0)],
    ['not BSON', Buffer.from('not BSON')],
    ['cut off', serialize(POSITION).slice(0, -1)],
    ['a document without fields', serialize({})],
    ['a position without a number', serialize({ ...POSITION, publicId: undefined }, { ignoreUndefined: true })],
    ['a position whose number is null', serialize({ ...POSITION, publicId: null })],
    ['a position whose boost is a number', serialize({ ...POSITION, isBoosted: 1 })],
    ['a position whose score is a string', serialize({ ...POSITION, boostScore: '1' })],
    ['a position whose score is a document', serialize({ ...POSITION, boostScore: {} })],
    ['a position whose score is infinite', serialize({ ...POSITION, boostScore: Infinity })],
    ['a position whose score is an infinite decimal', serialize({ ...POSITION, boostScore: decimal('Infinity') })],
    ['a position whose score is the decimal NaN', serialize({ ...POSITION, boostScore: decimal('NaN') })],
    ['a position whose number is too large', serialize({ ...POSITION, publicId: 2 ** 54 })],
    [
      'a position whose time is a timestamp',
      serialize({ ...POSITION, createdAt: new mongo.Timestamp({ t: 1, i: 1 }) }),
    ],
    ['a position whose time is a reference', serialize({ ...POSITION, createdAt: { $ref: 'items', $id: 1 } })],
    ['a position whose time is an operator', serialize({ ...POSITION, createdAt: { $gt: '' } })],
    ['a position whose time is not ISO 8601', serialize({ ...POSITION, createdAt: 'soon' })],
    // The type of the field is 0x12 for a Long, and 0x09 for a date.
    [
      'a position whose time is a date out of range',
      replaced({ ...POSITION, createdAt: mongo.Long.MAX_VALUE }, '\x12createdAt', '\x09createdAt'),
    ],
    [
      'a document whose text has a negative length',
      replaced({ text: 'a', ...POSITION }, '\x02text\0\x02\0\0\0', '\x02text\0\xf6\xff\xff\xff'),
    ],
  ])('a cursor is rejected if its payload is %s', (_, payload) => {
    expect(decodeCursor(LIST_POSITIONS, forged(payload))).toBeUndefined();
  });

  it('a cursor of the first version is rejected', () => {
    expect(decodeCursor(LIST_POSITIONS, 'u1ZCYQ4vWzEsImxpc3QiLGZhbHNlLDAsMTc2NDAwMDAwMDAwMCwxMDAzXQ')).toBeUndefined();
  });

  it.each(['', 'A', cursor.slice(0, -1), cursor.slice(1), `${cursor}A`, `${cursor}=`, 'x'.repeat(100_000)])(
    'a cursor is rejected if its text is %j',
    (text) => {
      expect(decodeCursor(LIST_POSITIONS, text)).toBeUndefined();
    },
  );
});
