import { furthestBack, type Place } from './furthest-back.js';

const at = (day: number, boostScore = 0): Place => ({
  isBoosted: boostScore > 0,
  boostScore,
  createdAt: new Date(Date.UTC(2026, 0, day)),
});

describe('the place furthest back', () => {
  it.each<[string, Place, Place]>([
    ['is the older one', at(1), at(2)],
    ['is not boosted', at(9), at(1, 1)],
    ['is boosted less', at(9, 1), at(1, 2)],
    ['has the least name of equals', at(1), at(1)],
    ['has the least name where one is not known', undefined, at(1)],
    [
      'has the least name where one is of another type',
      { ...at(1), createdAt: 'yesterday' } as unknown as Place,
      at(1),
    ],
  ])('%s, in whatever order they are given', (_, back, front) => {
    const places: [string, Place][] = [
      ['a', back],
      ['b', front],
    ];
    expect(furthestBack(new Map(places))).toBe('a');
    expect(furthestBack(new Map(places.reverse()))).toBe('a');
  });
});
