import { demoListings, type DemoListing } from './demo-listing.js';

/** A listing as `import` reads it. */
export type GeneratedLine = Omit<DemoListing, 'categoryId' | 'photos'> & {
  /** Differs for each seed, count and line: they make different listings. */
  externalId: string;
  categoryId: string;
  photos?: DemoListing['photos'];
};

/** `count` lines for `import`, the same for the same arguments, one at a time. */
export function* generatedLines(count: number, seed: number, now: Date): Generator<GeneratedLine> {
  let number = 0;
  for (const { photos, categoryId, ...listing } of demoListings(count, seed, now)) {
    number += 1;
    yield {
      externalId: `generated-${String(seed)}-${String(count)}-${String(number)}`,
      ...listing,
      categoryId: String(categoryId),
      ...(photos.length > 0 ? { photos } : {}),
    };
  }
}
