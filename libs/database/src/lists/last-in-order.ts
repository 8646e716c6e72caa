import type { ListPosition } from './list-query.js';

/** A position in list order; undefined if it is not known. */
export type OptionalPosition = Pick<ListPosition, 'isBoosted' | 'boostScore' | 'createdAt'> | undefined;

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
