import { lastInOrder, type OptionalPosition } from './last-in-order.js';

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
