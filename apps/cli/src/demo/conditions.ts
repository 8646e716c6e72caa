/** Conditions in the order of their ids, with their effect on the price and how often they occur. */
export const CONDITIONS = [
  { key: 'new', title: 'New', priceFactor: 1.25, weight: 8 },
  { key: 'likeNew', title: 'Like new', priceFactor: 1.1, weight: 21 },
  { key: 'veryGood', title: 'Very good', priceFactor: 1, weight: 28 },
  { key: 'good', title: 'Good', priceFactor: 0.85, weight: 27 },
  { key: 'fair', title: 'Fair', priceFactor: 0.6, weight: 11 },
  { key: 'forParts', title: 'For parts', priceFactor: 0.25, weight: 5 },
] as const;

export type Condition = (typeof CONDITIONS)[number];
export type ConditionKey = Condition['key'];
