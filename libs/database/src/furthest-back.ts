import type { ListPosition } from './list-query.js';

/** A place in the order of lists; undefined where it is not known. */
export type Place = Pick<ListPosition, 'isBoosted' | 'boostScore' | 'createdAt'> | undefined;

/**
 * Returns the name of the place that comes last in the order of lists, of places that are equal the least name: the order
 * in which they are given makes no difference.
 */
export function furthestBack(places: ReadonlyMap<string, Place>): string | undefined {
  const names = [...places.keys()].sort();
  return names.sort((a, b) => compare(places.get(b), places.get(a)))[0];
}

/** Negative when the first comes before the second in the order of lists. */
function compare(a: Place, b: Place): number {
  if (a === undefined || b === undefined) return 0;
  return (
    Number(b.isBoosted) - Number(a.isBoosted) ||
    b.boostScore - a.boostScore ||
    Number(b.createdAt) - Number(a.createdAt) ||
    0
  );
}
