import { demoListings, type DemoListing } from './demo-listing.js';

/** A listing in the form that `import` reads. */
export type GeneratedLine = Omit<DemoListing, 'categoryId' | 'photos'> & {
  /** Differs for each seed, count and line, because each combination is a different listing. */
  externalId: string;
  categoryId: string;
  photos?: DemoListing['photos'];
};

/** Generates `count` lines for `import`, one at a time. The same arguments give the same lines. */
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
