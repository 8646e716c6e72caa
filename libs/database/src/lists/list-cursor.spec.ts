import { createHash } from 'node:crypto';
import { mongo } from 'mongoose';
import { decodeCursor, encodeCursor, FAVOURITES_CURSOR, LIST_CURSOR } from './list-cursor.js';

const POSITION = { isBoosted: true, boostScore: 0.1, createdAt: new Date(1_790_000_000_123), publicId: 2 ** 53 - 1 };
const FAVOURITE = { itemId: new mongo.ObjectId(), createdAt: new Date(-1) };
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const CHARACTERS = Array.from(`${LETTERS}=.~ /\n\u0000é`);

const ofList = (text: string): unknown => decodeCursor(LIST_CURSOR, text);
const ofFavourites = (text: string): unknown => decodeCursor(FAVOURITES_CURSOR, text);
/** They differ in length, and so in the bits that the last letter encodes. */
const CURSORS = [
  { of: 'a boosted item', cursor: encodeCursor(LIST_CURSOR, POSITION), decode: ofList },
  { of: 'an item', cursor: encodeCursor(LIST_CURSOR, { ...POSITION, isBoosted: false }), decode: ofList },
  { of: 'a favourite', cursor: encodeCursor(FAVOURITES_CURSOR, FAVOURITE), decode: ofFavourites },
];

describe('a cursor', () => {
  const cursor = encodeCursor(LIST_CURSOR, POSITION);

  it('a cursor holds a position exactly, in at most 200 URL-safe characters', () => {
    expect(decodeCursor(LIST_CURSOR, cursor)).toEqual(POSITION);
    expect(cursor).toMatch(/^[\w-]{1,200}$/);
    expect(decodeCursor(FAVOURITES_CURSOR, encodeCursor(FAVOURITES_CURSOR, FAVOURITE))).toEqual(FAVOURITE);
  });

  it('a cursor holds decimals exactly', () => {
    const [boostScore, createdAt] = ['-0.1', '9.999999999999999999999999999999999E-6111'].map((text) =>
      mongo.Decimal128.fromString(text),
    ) as [mongo.Decimal128, mongo.Decimal128];
    const position = { ...POSITION, boostScore, createdAt };
    expect(decodeCursor(LIST_CURSOR, encodeCursor(LIST_CURSOR, position))).toEqual(position);
  });

  it('a cursor is rejected for another kind of list', () => {
    expect(decodeCursor(FAVOURITES_CURSOR, cursor)).toBeUndefined();
    expect(decodeCursor(LIST_CURSOR, encodeCursor(FAVOURITES_CURSOR, FAVOURITE))).toBeUndefined();
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

  const forged = (payload: string): string => {
    const checksum = createHash('sha256').update(payload).digest().subarray(0, 6);
    return Buffer.concat([checksum, Buffer.from(payload)]).toString('base64url');
  };

  it.each([
    '',
    'no JSON',
    '{}',
    'null',
    '[1,"list"]',
    '[2,"list",true,1,1,1]',
    '[1,"list",1,1,1,1]',
    '[1,"list",true,"1",1,1]',
    '[1,"list",true,{},1,1]',
    '[1,"list",true,{"decimal":1},1,1]',
    '[1,"list",true,{"decimal":"one"},1,1]',
    '[1,"list",true,1e400,1,1]',
    '[1,"list",true,1,1e300,1]',
    '[1,"list",true,1,1,null]',
  ])('a cursor is rejected if its payload is %s', (payload) => {
    expect(decodeCursor(LIST_CURSOR, forged(payload))).toBeUndefined();
  });

  it.each(['', 'A', cursor.slice(0, -1), cursor.slice(1), `${cursor}A`, `${cursor}=`, 'x'.repeat(100_000)])(
    'a cursor is rejected if its text is %j',
    (text) => {
      expect(decodeCursor(LIST_CURSOR, text)).toBeUndefined();
    },
  );
});
