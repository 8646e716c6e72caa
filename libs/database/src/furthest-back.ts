import type { ListPosition } from './list-query.js';

/** A place in the order of lists; undefined where it is not known. */
export type Place = Pick<ListPosition, 'isBoosted' | 'boostScore' | 'createdAt'> | undefined;

/** Returns the index of the place that comes last in the order of lists, of places that are equal the first. */
export function furthestBack(places: readonly Place[]): number {
  return places.reduce((last, place, index) => (compare(places[last], place) < 0 ? index : last), 0);
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
