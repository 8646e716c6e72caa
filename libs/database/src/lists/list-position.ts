import { mongo } from 'mongoose';
import { LIST_ORDER } from '../models.js';
import { valuesOf, type RawItem } from '../serialization/item-json.js';
import { ISO_TIME, toNumber } from '../serialization/plain-item.js';
import type { PositionKind } from './list-cursor.js';

/** A stored number as MongoDB orders it. Most decimals differ from the closest number of JavaScript. */
type OrderedNumber = number | mongo.Decimal128;

/** An item's position in list order. Other services may have stored its time as text or as a number. */
export interface ListPosition {
  isBoosted: boolean;
  boostScore: OrderedNumber;
  createdAt: Date | string | OrderedNumber;
  publicId: OrderedNumber;
}

/** A position in list order; undefined if it is not known. */
export type OptionalPosition = Pick<ListPosition, 'isBoosted' | 'boostScore' | 'createdAt'> | undefined;

export const POSITION_FIELDS = { _id: 0, isBoosted: 1, boostScore: 1, createdAt: 1, publicId: 1 } as const;

/** Positions in lists, whose fields another service may have written. */
export const LIST_POSITIONS: PositionKind<ListPosition> = {
  name: 'list',
  toPosition: ({ isBoosted, ...document }) => {
    const [boostScore, publicId] = [orderedNumber(document['boostScore']), orderedNumber(document['publicId'])];
    const createdAt = orderedTime(document['createdAt']);
    return typeof isBoosted === 'boolean' &&
      boostScore !== undefined &&
      createdAt !== undefined &&
      publicId !== undefined
      ? { isBoosted, boostScore, createdAt, publicId }
      : undefined;
  },
};

/** Returns the position of an item, or undefined if another service has written values that do not form one. */
export function positionOf(item: RawItem): ListPosition | undefined {
  const [isBoosted, boostScore, createdAt, publicId] = valuesOf(item, Object.keys(LIST_ORDER));
  return LIST_POSITIONS.toPosition({ isBoosted, boostScore, createdAt, publicId });
}

/** Returns a position that this one directly follows. Their numbers are so close that no other document lies between. */
export function positionBefore(position: ListPosition): ListPosition {
  const publicId = Number(position.publicId);
  return { ...position, publicId: publicId + Math.max(Math.abs(publicId), 1) * Number.EPSILON };
}

/** Returns the index of the position that comes last in list order. Of equal positions, it returns the first. */
export function lastInOrder(positions: readonly OptionalPosition[]): number {
  return positions.reduce((last, position, index) => (compare(positions[last], position) < 0 ? index : last), 0);
}

/** Returns a negative number if the first position precedes the second in list order, and 0 if either is not known. */
function compare(a: OptionalPosition, b: OptionalPosition): number {
  if (a === undefined || b === undefined) return 0;
  return (
    Number(b.isBoosted) - Number(a.isBoosted) ||
    Number(b.boostScore) - Number(a.boostScore) ||
    Number(b.createdAt) - Number(a.createdAt) ||
    0
  );
}

/** Returns a stored time as the index orders it. */
function orderedTime(stored: unknown): ListPosition['createdAt'] | undefined {
  if (stored instanceof Date) return Number.isNaN(stored.getTime()) ? undefined : stored;
  if (typeof stored === 'string') return ISO_TIME.test(stored) ? stored : undefined;
  return orderedNumber(stored);
}

/** Returns a stored number as the index orders it. No range begins after NaN. */
function orderedNumber(stored: unknown): OrderedNumber | undefined {
  const number = toNumber(stored);
  if (!(stored instanceof mongo.Decimal128) || Number.isSafeInteger(number)) return number;
  return Number.isNaN(Number(stored)) ? undefined : stored;
}
