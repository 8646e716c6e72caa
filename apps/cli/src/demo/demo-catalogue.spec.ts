import { demoCatalogue, demoListings } from './demo-catalogue.js';
import { LANGUAGES } from './languages.js';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const catalogue = demoCatalogue(NOW);
const { listings, favourites } = catalogue;

const codePoints = (text: string) => Array.from(text).length;
const repeated = (texts: readonly string[]) => texts.length - new Set(texts).size;
const share = (matches: (listing: (typeof listings)[number]) => boolean) => listings.filter(matches).length / 1000;

describe('demoCatalogue', () => {
  it('the demo catalogue is the same for the same moment, byte for byte', () => {
    expect(JSON.stringify(demoCatalogue(NOW))).toBe(JSON.stringify(catalogue));
  });

  it('the demo catalogue changes only its dates when the moment changes', () => {
    const later = demoCatalogue(new Date(NOW.getTime() + 5_000));
    const words = ({ name, description, price }: (typeof listings)[number]) => ({ name, description, price });
    expect(later.listings.map(words)).toEqual(listings.map(words));
    expect(later.listings.map(({ createdAt }) => createdAt.getTime() - 5_000)).toEqual(
      listings.map(({ createdAt }) => createdAt.getTime()),
    );
  });

  it('the demo catalogue has 40 categories, 60 brands, 6 conditions and 1,000 listings that use them all', () => {
    const ids = (rows: readonly { _id: number }[]) => rows.map(({ _id }) => _id);
    const countTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
    const used = (values: readonly (number | null)[]) =>
      [...new Set(values)].filter((value) => value !== null).sort((a, b) => a - b);

    expect(ids(catalogue.categories)).toEqual(countTo(40));
    expect(ids(catalogue.brands)).toEqual(countTo(60));
    expect(ids(catalogue.conditions)).toEqual(countTo(6));
    expect(listings).toHaveLength(1000);
    expect(used(listings.map(({ categoryId }) => categoryId))).toEqual(countTo(40));
    expect(used(listings.map(({ brandId }) => brandId))).toEqual(countTo(60));
    expect(used(listings.map(({ conditionId }) => conditionId))).toEqual(countTo(6));
    expect(repeated(catalogue.categories.map(({ slug }) => slug))).toBe(0);
    expect(catalogue.categories.every(({ slug }) => /^[a-z]+(-[a-z]+)*$/.test(slug))).toBe(true);
  });

  it('the demo catalogue has the same texts in every language', () => {
    const keysOf = (value: unknown): unknown =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.entries(value).map(([key, member]) => [key, keysOf(member)])
        : typeof value;
    for (const language of LANGUAGES) {
      expect(language.colours).toHaveLength(6);
      expect([language.code, keysOf(language)]).toEqual([language.code, keysOf(LANGUAGES[0])]);
    }
    expect(Object.keys(LANGUAGES[0]?.nouns ?? {}).sort()).toEqual(catalogue.categories.map(({ slug }) => slug).sort());
  });

  it('the demo catalogue keeps every listing within the limits of the interface', () => {
    const more = [...demoListings(4000, 5, NOW)];
    const isBetween = (value: number, least: number, most: number) => least <= value && value <= most;
    const hasCents = (amount: number) => Number(amount.toFixed(2)) === amount;
    const checks = ({ name, description, price, stock, images, photos, ...listing }: (typeof listings)[number]) => ({
      isWellFormed: name.isWellFormed() && description.isWellFormed(),
      name: isBetween(codePoints(name), 3, 120),
      description: isBetween(codePoints(description), 10, 900),
      texts: !/[{}|]|undefined|null| {2}|^\s|\s$/.test(`${name}${description}`),
      price: price > 0 && price <= 999_999.99 && hasCents(price),
      deliveryCost: hasCents(listing.deliveryCost),
      stock: Number.isInteger(stock) && stock >= 1,
      images: isBetween(images.length, 1, 5),
      photos: photos.length === 0 || photos.length === images.length,
      favouriteCount: listing.favouriteCount <= listing.viewCount,
      sellerId: /^seller-\d{3}$/.test(listing.sellerId),
    });
    // Not one `expect` for each check of thousands of listings, which would take seconds.
    const outside = [...listings, ...more]
      .map((listing) => ({ listing, checks: checks(listing) }))
      .filter((checked) => Object.values(checked.checks).includes(false));
    expect(outside).toEqual([]);
  });

  it('the demo catalogue rarely repeats a name, and never a description', () => {
    expect(repeated(listings.map(({ name }) => name))).toBeLessThan(30);
    expect(repeated(listings.map(({ description }) => description))).toBe(0);
  });

  it.each(['Latin', 'Greek', 'Cyrillic', 'Arabic', 'Hebrew', 'Devanagari', 'Hiragana', 'Han', 'Hangul'])(
    'the demo catalogue has descriptions in %s script',
    (script) => {
      const pattern = new RegExp(`\\p{Script=${script}}`, 'u');
      expect(share(({ description }) => pattern.test(description))).toBeGreaterThan(0.03);
    },
  );

  it('the demo catalogue has emoji in some names', () => {
    const emojiShare = share(({ name }) => /\p{Extended_Pictographic}/u.test(name));
    expect(emojiShare).toBeGreaterThan(0.03);
    expect(emojiShare).toBeLessThan(0.15);
  });

  it('the demo catalogue has listings up to two years old, none of them updated before it was created', () => {
    const ages = listings.map(({ createdAt }) => NOW.getTime() - createdAt.getTime());
    expect(Math.min(...ages)).toBeLessThan(3_600_000);
    expect(Math.min(...ages)).toBeGreaterThan(0);
    expect(Math.max(...ages)).toBeGreaterThan(650 * 86_400_000);
    expect(Math.max(...ages)).toBeLessThanOrEqual(730 * 86_400_000);
    expect(listings.every(({ createdAt, updatedAt }) => updatedAt >= createdAt && updatedAt <= NOW)).toBe(true);
  });

  it('the demo catalogue has mostly available listings, and some in every other state, hidden or featured', () => {
    expect(share(({ status }) => status === 'available')).toBeCloseTo(0.8, 1);
    for (const state of ['reserved', 'sold', 'shipped', 'delivered', 'cancelled']) {
      expect(share(({ status }) => status === state)).toBeGreaterThan(0.01);
    }
    expect(share(({ isVisible }) => !isVisible)).toBeLessThan(0.06);
    expect(share(({ isVisible }) => !isVisible)).toBeGreaterThan(0.01);
    expect(share(({ isFeatured }) => isFeatured)).toBeGreaterThan(0.03);
    expect(share(({ stock }) => stock === 1)).toBeGreaterThan(0.85);
  });

  it('the demo catalogue has boosts that are active, endless and lapsed, and a score only with a boost', () => {
    const boosts = listings.filter(({ isBoosted }) => isBoosted);
    const ends = boosts.map(({ boostExpiresAt }) => boostExpiresAt);
    expect(boosts.length).toBeGreaterThan(45);
    expect(boosts.length).toBeLessThan(80);
    expect(ends.filter((end) => end !== null && end > NOW).length).toBeGreaterThan(15);
    expect(ends.filter((end) => end !== null && end < NOW).length).toBeGreaterThan(5);
    expect(ends.filter((end) => end === null).length).toBeGreaterThan(5);
    expect(listings.every(({ isBoosted, boostScore }) => boostScore > 0 === isBoosted)).toBe(true);
    expect(
      boosts.every(({ boostExpiresAt, createdAt }) => boostExpiresAt === null || boostExpiresAt >= createdAt),
    ).toBe(true);
  });

  it('the demo catalogue gives a size only to clothes and shoes', () => {
    const worn = ['jackets', 'dresses', 'jeans', 'sweaters', 'sneakers', 'boots'];
    const wornIds = new Set(catalogue.categories.filter(({ slug }) => worn.includes(slug)).map(({ _id }) => _id));
    expect(listings.every(({ categoryId, sizeTitle }) => wornIds.has(categoryId) === (sizeTitle !== null))).toBe(true);
  });

  it('the demo catalogue has delivery costs and times only for listings that are shipped', () => {
    for (const { deliveryOptions, deliveryCost, freeShipping, deliveryTimeEstimate } of listings) {
      const isSent = deliveryOptions.some((option) => option !== 'pickup');
      expect(deliveryOptions.length).toBeGreaterThan(0);
      expect(deliveryCost > 0).toBe(isSent && !freeShipping);
      expect(isSent || (!freeShipping && deliveryTimeEstimate === null)).toBe(true);
    }
  });

  it('the demo catalogue has distinct favourites at distinct times, none older than its listing', () => {
    const of = (user: string) => favourites.filter(({ userId }) => userId === user);
    expect(of('demo-user')).toHaveLength(60);
    expect(of('demo-user-2')).toHaveLength(7);
    expect(repeated(favourites.map(({ userId, listing }) => `${userId} ${String(listing)}`))).toBe(0);
    expect(repeated(favourites.map(({ createdAt }) => createdAt.toISOString()))).toBe(0);
    for (const { listing, createdAt } of favourites) {
      expect(listings[listing]?.createdAt.getTime()).toBeLessThanOrEqual(createdAt.getTime());
      expect(listings[listing]?.favouriteCount).toBeGreaterThan(0);
      expect(createdAt.getTime()).toBeLessThanOrEqual(NOW.getTime());
    }
  });
});

describe('demoListings', () => {
  it('demoListings generates any number of listings, each only when it is requested', () => {
    const stream = demoListings(Number.MAX_SAFE_INTEGER, 1, NOW);
    expect(stream.next().done).toBe(false);
    expect([...demoListings(0, 1, NOW)]).toEqual([]);
  });

  it('demoListings generates other listings for another seed', () => {
    expect([...demoListings(5, 1, NOW)]).toEqual([...demoListings(5, 1, NOW)]);
    expect([...demoListings(5, 1, NOW)]).not.toEqual([...demoListings(5, 2, NOW)]);
  });
});
