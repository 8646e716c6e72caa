import { mongo } from 'mongoose';
import { positionOf } from './list-reader.js';

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
    'positionOf returns undefined for %p, which is no time that a cursor can contain',
    (createdAt) => {
      expect(position(createdAt)).toBeUndefined();
    },
  );
});
