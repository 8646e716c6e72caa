import { BRAND_IDS, CATEGORIES } from './categories.js';
import { CONDITIONS } from './conditions.js';
import { type DemoListing, demoListings } from './demo-listing.js';
import { createRandom } from './random.js';

export { type DemoListing, demoListings };

/** Everything that a new database needs to look like a marketplace that has been open for two years. */
export interface DemoCatalogue {
  categories: { _id: number; slug: string; title: string }[];
  brands: { _id: number; title: string }[];
  conditions: { _id: number; title: string }[];
  listings: DemoListing[];
  /** `listing` is an index into `listings`. Each pair of `userId` and `listing` is unique. */
  favourites: { userId: string; listing: number; createdAt: Date }[];
}

const SEED = 2024;
const LISTINGS = 1000;
const USERS = [
  { userId: 'demo-user', favourites: 60 },
  { userId: 'demo-user-2', favourites: 7 },
];

/**
 * Returns the demo catalogue as of `now`: 40 categories, 60 brands, 6 conditions, 1,000 listings and the favourites of
 * two users. The same `now` gives the same catalogue, byte for byte. Another one changes only the dates.
 */
export function demoCatalogue(now: Date): DemoCatalogue {
  const listings = [...demoListings(LISTINGS, SEED, now)];
  return {
    categories: CATEGORIES.map(({ id, slug, title }) => ({ _id: id, slug, title })),
    brands: [...BRAND_IDS].map(([title, id]) => ({ _id: id, title })),
    conditions: CONDITIONS.map(({ title }, index) => ({ _id: index + 1, title })),
    listings,
    favourites: favourites(listings, now),
  };
}

/** Picks favourites that are not older than their listings, and counts them in the listings. */
function favourites(listings: readonly DemoListing[], now: Date): DemoCatalogue['favourites'] {
  const random = createRandom(SEED + 1);
  return USERS.flatMap(({ userId, favourites: wanted }) => {
    const open = new Map(listings.entries());
    return Array.from({ length: wanted }, () => {
      const [listing, liked] = random.pick([...open]);
      open.delete(listing);
      liked.favouriteCount += 1;
      liked.viewCount += 1;
      const ageMs = Math.floor((now.getTime() - liked.createdAt.getTime()) * random.next());
      return { userId, listing, createdAt: new Date(now.getTime() - ageMs) };
    });
  });
}
