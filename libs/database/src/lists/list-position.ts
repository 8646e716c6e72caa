import { mongo } from 'mongoose';
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

/** From here on, JavaScript skips integers, so that no position directly precedes another. No valid Item has more. */
const LARGEST_NUMBER = 2 ** 53;

/** Positions in lists, whose fields another service may have written. */
export const LIST_POSITIONS: PositionKind<ListPosition> = {
  name: 'list',
  toPosition: ({ isBoosted, boostScore: score, createdAt: time, publicId: number }) => {
    const [boostScore, createdAt, publicId] = [orderedNumber(score), orderedTime(time), orderedNumber(number)];
    if (publicId === undefined || Math.abs(Number(publicId)) > LARGEST_NUMBER) return undefined;
    return typeof isBoosted === 'boolean' && boostScore !== undefined && createdAt !== undefined
      ? { isBoosted, boostScore, createdAt, publicId }
      : undefined;
  },
};

/** Returns the position of an item, or undefined if another service has written values that do not form one. */
export function positionOf(item: RawItem): ListPosition | undefined {
  const names = ['isBoosted', 'boostScore', 'createdAt', 'publicId'] as const;
  const values = valuesOf(item, names);
  return LIST_POSITIONS.toPosition(Object.fromEntries(names.map((name, index) => [name, values[index]])));
}

/** Returns a position that this one directly follows. Their numbers are so close that no other document lies between. */
export function positionBefore(position: ListPosition): ListPosition {
  const publicId = Number(position.publicId);
  const before = publicId + Math.max(Math.abs(publicId), 1) * Number.EPSILON;
  return { ...position, publicId: Math.min(before, LARGEST_NUMBER) };
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

/** Returns a stored number as the index orders it. */
function orderedNumber(stored: unknown): OrderedNumber | undefined {
  const number = toNumber(stored);
  if (!(stored instanceof mongo.Decimal128) || Number.isSafeInteger(number)) return number;
  return Number.isFinite(Number(stored)) ? stored : undefined;
}
