import type { ListPosition } from './list-query.js';

/** A position in list order; undefined if it is not known. */
export type Place = Pick<ListPosition, 'isBoosted' | 'boostScore' | 'createdAt'> | undefined;

/** Returns the index of the place that comes last in list order. Of equal places, it returns the first. */
export function furthestBack(places: readonly Place[]): number {
  return places.reduce((last, place, index) => (compare(places[last], place) < 0 ? index : last), 0);
}

/** Returns a negative number if the first place precedes the second in list order, and 0 if either is not known. */
function compare(a: Place, b: Place): number {
  if (a === undefined || b === undefined) return 0;
  return (
    Number(b.isBoosted) - Number(a.isBoosted) ||
    b.boostScore - a.boostScore ||
    Number(b.createdAt) - Number(a.createdAt) ||
    0
  );
}
