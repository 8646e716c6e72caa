import { KnownRanks, type Listing } from './known-ranks.js';
import type { ListPosition } from './list-query.js';

const at = (changes: Partial<ListPosition> = {}): ListPosition => ({
  isBoosted: false,
  boostScore: 0,
  createdAt: new Date(1000),
  publicId: 10,
  ...changes,
});
const item = (changes: Partial<Listing> = {}): Listing => ({
  ...at({ createdAt: new Date(2000), publicId: 20 }),
  isVisible: true,
  status: 'available',
  categoryId: 7,
  ...changes,
});

describe('known ranks', () => {
  let ranks: KnownRanks;
  beforeEach(() => {
    ranks = new KnownRanks();
  });

  const rankOf = (filter = {}): number | undefined => ranks.nearest(filter, 1100)?.rank;

  it('answer the nearest place that is not behind', () => {
    for (const rank of [900, 1000, 1001]) ranks.learn({}, { rank, position: at({ publicId: rank }) });
    expect(ranks.nearest({}, 1000)).toEqual({ rank: 1000, position: at({ publicId: 1000 }) });
    expect(ranks.nearest({}, 999)?.rank).toBe(900);
    expect(ranks.nearest({}, 899)).toBeUndefined();
  });

  it('answer none that is far', () => {
    ranks.learn({}, { rank: 1000, position: at() });
    expect(ranks.nearest({}, 1499)?.rank).toBe(1000);
    expect(ranks.nearest({}, 1500)).toBeUndefined();
  });

  it('are apart for each list', () => {
    ranks.learn({ status: 'sold', categoryId: 7 }, { rank: 1000, position: at() });
    expect(rankOf({ status: 'sold', categoryId: 7 })).toBe(1000);
    for (const filter of [{}, { status: 'sold' as const }, { categoryId: 7 }]) expect(rankOf(filter)).toBeUndefined();
  });

  it.each<[string, Partial<Listing>, Partial<Listing>]>([
    ['boosted', { isBoosted: true, createdAt: new Date(0) }, { isBoosted: false }],
    ['of a higher score', { boostScore: 6, createdAt: new Date(0) }, { boostScore: 5 }],
    ['newer', { createdAt: new Date(1001), publicId: 1 }, { createdAt: new Date(1000) }],
    ['as new, of a higher publicId', { createdAt: new Date(1000), publicId: 11 }, { publicId: 10 }],
  ])('move on by an item that is %s', (_, created, known) => {
    ranks.learn({}, { rank: 1000, position: at(known) });
    ranks.created(item(created));
    expect(rankOf()).toBe(1001);
  });

  it.each<[string, Partial<Listing>, Partial<Listing>]>([
    ['not boosted', { isBoosted: false }, { isBoosted: true }],
    ['of a lower score', { boostScore: 4 }, { boostScore: 5 }],
    ['older', { createdAt: new Date(999) }, { createdAt: new Date(1000) }],
    ['as new, of a lower publicId', { createdAt: new Date(1000), publicId: 9 }, { publicId: 10 }],
    ['hidden', { isVisible: false }, {}],
  ])('stay for an item that is %s', (_, created, known) => {
    ranks.learn({}, { rank: 1000, position: at(known) });
    ranks.created(item(created));
    expect(rankOf()).toBe(1000);
  });

  it('move on in the lists that the item is in', () => {
    const lists = [
      { status: 'available', categoryId: 7 },
      { status: 'available' },
      { categoryId: 7 },
      { status: 'sold', categoryId: 7 },
      { status: 'sold' },
      { categoryId: 8 },
    ] as const;
    for (const filter of lists) ranks.learn(filter, { rank: 1000, position: at() });
    ranks.created(item());
    expect(lists.map(rankOf)).toEqual([1001, 1001, 1001, 1000, 1000, 1000]);
  });

  it('are forgotten, but those of everything, when a status changes', () => {
    for (const filter of [{}, { status: 'sold' as const }, { categoryId: 7 }])
      ranks.learn(filter, { rank: 1000, position: at() });
    ranks.statusChanged();
    expect([{}, { status: 'sold' as const }, { categoryId: 7 }].map(rankOf)).toEqual([1000, undefined, undefined]);
  });

  it.each<[string, object]>([
    ['without a time', { createdAt: undefined }],
    ['of an invalid time', { createdAt: new Date(NaN) }],
    ['whose score is no number', { boostScore: '5' }],
    ['of a status that is none', { status: 'unheard of' }],
    ['without a category', { categoryId: null }],
    ['of which nothing is said about its visibility', { isVisible: undefined }],
  ])('are forgotten for an item %s', (_, created) => {
    ranks.learn({}, { rank: 1000, position: at() });
    ranks.created({ ...item(), ...created });
    expect(rankOf()).toBeUndefined();
  });

  it('are not learned of a place that cannot be compared', () => {
    ranks.learn({}, { rank: 1000, position: { ...at(), boostScore: null as unknown as number } });
    expect(rankOf()).toBeUndefined();
  });

  it('are bounded', () => {
    for (let rank = 0; rank <= 2000; rank++) ranks.learn({}, { rank, position: at() });
    expect(ranks.nearest({}, 1999)).toBeUndefined();
    expect(ranks.nearest({}, 2000)?.rank).toBe(2000);
  });
});
