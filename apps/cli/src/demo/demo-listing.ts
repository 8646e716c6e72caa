import type { ItemStatus } from '@app/contracts';
import { BRAND_IDS, CATEGORIES, type Category } from './categories.js';
import { CONDITIONS, type Condition } from './conditions.js';
import { LANGUAGES } from './languages.js';
import { createRandom, cyclic, type Random } from './random.js';
import { type Offer, wording } from './wording.js';

/** A listing without an id: what its seller entered, and its state since then. */
export interface DemoListing {
  name: string;
  description: string;
  /** At most 999,999.99, in whole cents. */
  price: number;
  stock: number;
  categoryId: number;
  brandId: number | null;
  conditionId: number | null;
  isFeatured: boolean;
  images: string[];
  photos: Record<string, unknown>[];
  status: ItemStatus;
  sellerId: string;
  createdAt: Date;
  updatedAt: Date;
  isVisible: boolean;
  isBoosted: boolean;
  /** 0 when not boosted. */
  boostScore: number;
  /** Null without a boost, or without an end. The time of a lapsed boost is past, but `isBoosted` is still true. */
  boostExpiresAt: Date | null;
  favouriteCount: number;
  viewCount: number;
  deliveryOptions: string[];
  deliveryCost: number;
  freeShipping: boolean;
  deliveryTimeEstimate: string | null;
  sizeTitle: string | null;
  discount: string | null;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const STATUSES: readonly { status: ItemStatus; weight: number }[] = [
  { status: 'available', weight: 80 },
  { status: 'reserved', weight: 5 },
  { status: 'sold', weight: 6 },
  { status: 'shipped', weight: 3 },
  { status: 'delivered', weight: 4 },
  { status: 'cancelled', weight: 2 },
];

/**
 * Generates `count` realistic second-hand listings in sixteen languages, one at a time. The same `count`, `seed` and
 * `now` (the moment from which ages are counted) give the same listings. Another `now` changes only their dates.
 */
export function* demoListings(count: number, seed: number, now: Date): Generator<DemoListing> {
  const random = createRandom(seed);
  const sellers = Math.max(120, Math.floor(count / 10));
  for (let number = 1; number <= count; number++) yield listing(random, number, sellers, now.getTime());
}

function listing(random: Random, number: number, sellers: number, nowMs: number): DemoListing {
  const seller = 1 + Math.floor(random.next() ** 1.4 * sellers);
  const category = random.pick(CATEGORIES);
  const { brand, price: usualPrice, models } = random.pick(category.offers);
  const condition = pickCondition(random, category);
  const language = cyclic(LANGUAGES, seller);
  const city = cyclic(language.cities.split('|'), Math.floor(seller / LANGUAGES.length));
  const delivery = pickDelivery(random, category);
  const model = random.phrase(models);
  const words = wording(random, { language, category, brand, model, condition: condition.key, city, delivery });
  const ageMs = Math.round(2 * MINUTE_MS + random.next() ** 2.5 * (730 * DAY_MS - HOUR_MS));
  const { status } = random.weighted(STATUSES);
  const isVisible = random.chance(0.97);
  const isNew = condition.key === 'new';
  const { images, photos } = pictures(random, category, number, words.name);
  const boosted = boost(random, status === 'available' && isVisible, ageMs, nowMs);
  const { viewCount, favouriteCount } = attention(random, ageMs);
  const terms = deliveryTerms(random, delivery, category);
  // Field by field, because spreading is noticeably slower with millions of listings.
  return {
    name: words.name,
    description: words.description,
    price: price(random, usualPrice * condition.priceFactor),
    stock: random.chance(isNew ? 0.3 : 0.04) && category.bulky !== true ? random.int(2, isNew ? 8 : 3) : 1,
    categoryId: category.id,
    brandId: brand === null ? null : (BRAND_IDS.get(brand) ?? null),
    conditionId: random.chance(0.05) ? null : CONDITIONS.indexOf(condition) + 1,
    isFeatured: random.chance(0.06),
    images,
    photos,
    status,
    sellerId: `seller-${String(seller).padStart(3, '0')}`,
    createdAt: new Date(nowMs - ageMs),
    updatedAt: new Date(nowMs - Math.round(ageMs * (random.chance(0.4) ? 1 : random.next()))),
    isVisible,
    isBoosted: boosted.isBoosted,
    boostScore: boosted.boostScore,
    boostExpiresAt: boosted.boostExpiresAt,
    favouriteCount,
    viewCount,
    deliveryOptions: terms.deliveryOptions,
    deliveryCost: terms.deliveryCost,
    freeShipping: terms.freeShipping,
    deliveryTimeEstimate: terms.deliveryTimeEstimate,
    sizeTitle: words.sizeTitle,
    discount: random.chance(0.07) ? `-${String(5 * random.int(1, 8))}%` : null,
  };
}

/** Picks a condition. Only goods that `breaks` allows are offered for parts. */
function pickCondition(random: Random, { breaks }: Category): Condition {
  return random.weighted(CONDITIONS.filter(({ key }) => breaks === true || key !== 'forParts'));
}

function price(random: Random, usual: number): number {
  const wish = random.around(usual, 0.3);
  const step = wish >= 200 ? 10 : wish >= 40 ? 5 : 1;
  const round = Math.max(step, Math.round(wish / step) * step);
  const ending = random.next();
  if (ending < 0.6) return round;
  if (ending < 0.85) return cents(round - 0.01);
  return cents(round + (ending < 0.95 ? 0.5 : random.next()));
}

/** Rounds to whole cents, because floating-point arithmetic is not exact. */
function cents(amount: number): number {
  return Math.round(amount * 100) / 100;
}

function pictures(random: Random, { slug }: Category, number: number, alt: string) {
  const url = (index: number) => `https://images.example.com/${slug}/${String(number)}-${String(index + 1)}.jpg`;
  const images = Array.from({ length: random.int(1, 5) }, (_, index) => url(index));
  const [width, height] = random.pick([[1600, 1200] as const, [1200, 1600] as const, [1440, 1440] as const]);
  return { images, photos: random.chance(0.5) ? images.map((image) => ({ url: image, width, height, alt })) : [] };
}

/** Half of the boosts end in the future, a fifth have no end, and the others have lapsed. */
function boost(random: Random, mayBeBoosted: boolean, ageMs: number, nowMs: number) {
  if (!mayBeBoosted || !random.chance(0.08)) return { isBoosted: false, boostScore: 0, boostExpiresAt: null };
  const kind = random.next();
  const leftMs = kind < 0.5 ? random.int(HOUR_MS, 30 * DAY_MS) : -Math.ceil(ageMs * random.next());
  return {
    isBoosted: true,
    boostScore: random.int(1, 20) * 5,
    boostExpiresAt: kind < 0.8 ? new Date(nowMs + leftMs) : null,
  };
}

/** Older listings have more views. Some of the viewers have added the listing to their favourites. */
function attention(random: Random, ageMs: number) {
  const viewCount = Math.round(random.around(6 * Math.sqrt(ageMs / DAY_MS), 0.9));
  return { viewCount, favouriteCount: Math.floor(viewCount * 0.12 * random.next()) };
}

function pickDelivery(random: Random, { bulky }: Category): Offer['delivery'] {
  const draw = random.next();
  if (draw < (bulky ? 0.65 : 0.12)) return 'pickup';
  return draw < 0.92 ? 'both' : 'shipping';
}

function deliveryTerms(random: Random, delivery: Offer['delivery'], { bulky }: Category) {
  if (delivery === 'pickup') {
    return { deliveryOptions: ['pickup'], deliveryCost: 0, freeShipping: false, deliveryTimeEstimate: null };
  }
  const carriers = bulky
    ? ['courier']
    : random.pick([['parcel'], ['parcel-locker'], ['parcel', 'parcel-locker'], ['parcel', 'courier']]);
  const freeShipping = random.chance(0.12);
  return {
    deliveryOptions: [...(delivery === 'both' ? ['pickup'] : []), ...carriers],
    deliveryCost: freeShipping ? 0 : cents((bulky ? random.int(25, 80) : random.int(3, 9)) - 0.01),
    freeShipping,
    deliveryTimeEstimate: random.chance(0.2) ? null : random.phrase('1-2 days|2-3 days|2-4 days|3-5 days'),
  };
}
