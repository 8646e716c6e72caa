import { furthestBack, type Place } from './furthest-back.js';

const at = (day: number, boostScore = 0): Place => ({
  isBoosted: boostScore > 0,
  boostScore,
  createdAt: new Date(Date.UTC(2026, 0, day)),
});

describe('furthestBack', () => {
  it.each<[string, Place, Place]>([
    ['is the older one', at(1), at(2)],
    ['is not boosted', at(9), at(1, 1)],
    ['is boosted less', at(9, 1), at(1, 2)],
  ])('returns the place that %s', (_, back, front) => {
    expect([furthestBack([back, front]), furthestBack([front, back])]).toEqual([0, 1]);
  });

  it.each<[string, Place]>([
    ['are equal', at(1)],
    ['are not all known', undefined],
    ['are of other types', { ...at(1), createdAt: 'yesterday' } as unknown as Place],
  ])('returns the first place if the places %s', (_, other) => {
    expect([furthestBack([other, at(1)]), furthestBack([at(1), other])]).toEqual([0, 0]);
  });
});
