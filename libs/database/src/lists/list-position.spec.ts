import { mongo } from 'mongoose';
import { lastInOrder, LIST_POSITIONS, positionBefore, positionOf, type OptionalPosition } from './list-position.js';

const at = (day: number, boostScore = 0): OptionalPosition => ({
  isBoosted: boostScore > 0,
  boostScore,
  createdAt: new Date(Date.UTC(2026, 0, day)),
});

describe('lastInOrder', () => {
  it.each<[string, OptionalPosition, OptionalPosition]>([
    ['is the older one', at(1), at(2)],
    ['is not boosted', at(9), at(1, 1)],
    ['is boosted less', at(9, 1), at(1, 2)],
  ])('lastInOrder returns the position that %s', (_, back, front) => {
    expect([lastInOrder([back, front]), lastInOrder([front, back])]).toEqual([0, 1]);
  });

  it.each<[string, OptionalPosition]>([
    ['are equal', at(1)],
    ['are not all known', undefined],
    ['are of other types', { ...at(1), createdAt: 'yesterday' } as unknown as OptionalPosition],
  ])('lastInOrder returns the first position if the positions %s', (_, other) => {
    expect([lastInOrder([other, at(1)]), lastInOrder([at(1), other])]).toEqual([0, 0]);
  });
});

describe('positionOf', () => {
  const fields = { isBoosted: false, boostScore: 0, publicId: 7 };
  const position = (createdAt: unknown): unknown => positionOf(mongo.BSON.serialize({ ...fields, createdAt }));

  it.each(['2026-01-01T00:00:02.000Z', '2026-01-01T01:00:02+01:00', 1_767_225_600_000])(
    'positionOf returns the position of an item with the time %p',
    (createdAt) => {
      expect(position(createdAt)).toEqual({ ...fields, createdAt });
    },
  );

  it.each(['soon', '\u0001'.repeat(40), `2026-01-01T00:00:02.${'0'.repeat(40)}Z`, '', null, true, NaN])(
    'positionOf returns undefined for %p, which is not a time that a cursor can contain',
    (createdAt) => {
      expect(position(createdAt)).toBeUndefined();
    },
  );

  it.each([
    ['infinite', mongo.Decimal128.fromString('Infinity')],
    ['too large for a number', mongo.Decimal128.fromString('1E+400')],
    ['not a number', mongo.Decimal128.fromString('NaN')],
    ['not exact in JavaScript', mongo.Long.fromString('9007199254740993')],
    ['larger than 2^53', 2 ** 53 + 2],
    ['missing', undefined],
  ])('positionOf returns undefined if the publicId is %s', (_, publicId) => {
    const item = { ...fields, createdAt: new Date(0), publicId };
    expect(positionOf(mongo.BSON.serialize(item, { ignoreUndefined: true }))).toBeUndefined();
  });
});

describe('positionBefore', () => {
  it.each([0, 7, -7, 1.5, 1e-9, 2 ** 53 - 1])(
    'the position before one with the number %p has a larger number',
    (number) => {
      const position = { isBoosted: false, boostScore: 0, createdAt: new Date(0), publicId: number };
      const before = positionBefore(position);
      expect(before).toEqual({ ...position, publicId: before.publicId });
      expect(before.publicId).toBeGreaterThan(number);
      // No integer lies between.
      expect(before.publicId).toBeLessThanOrEqual(Math.floor(number) + 1);
      expect(LIST_POSITIONS.toPosition(before)).toEqual(before);
    },
  );
});
