import { createHash } from 'node:crypto';
import { mongo } from 'mongoose';
import { decodeCursor, encodeCursor, FAVOURITES_CURSOR, LIST_CURSOR } from './list-cursor.js';

const POSITION = { isBoosted: true, boostScore: 0.1, createdAt: new Date(1_790_000_000_123), publicId: 2 ** 53 - 1 };
const FAVOURITE = { itemId: new mongo.ObjectId(), createdAt: new Date(-1) };
const CHARACTERS = ['A', 'z', '0', '-', '_', '=', ' ', '/', 'é'];

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

  it('a cursor is rejected if any of its characters is changed', () => {
    for (let at = 0; at < cursor.length; at++) {
      for (const character of CHARACTERS.filter((other) => other !== cursor[at])) {
        const altered = cursor.slice(0, at) + character + cursor.slice(at + 1);
        expect({ altered, position: decodeCursor(LIST_CURSOR, altered) }).toEqual({ altered, position: undefined });
      }
    }
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
