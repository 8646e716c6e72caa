import { slugify } from 'transliteration';

const LONGEST = 80;
/** Enough of any name to fill a slug; transliterating a megabyte would take seconds. */
const READ = 1000;

/** Arabic letters for which `transliteration` gives punctuation, which would tear the word apart. */
const ARABIC = [
  ['ة', 'a'],
  ['ى', 'a'],
  ['ئ', 'i'],
  ['ؤ', 'u'],
  ['ء', ''],
] satisfies [string, string][];

/**
 * The item's unique part of its address: the transliterated name, at most 80 characters of
 * `a-z0-9-`, and its `publicId`; `item-{publicId}` when nothing is left of the name, as of emoji.
 */
export function itemSlug(name: string, publicId: number): string {
  const start = Array.from(name.slice(0, 2 * READ))
    .slice(0, READ)
    .join('');
  const slug = slugify(start, { allowedChars: 'a-zA-Z0-9', lowercase: true, separator: '-', replace: ARABIC });
  return `${slug.slice(0, LONGEST).replace(/^-+|-+$/g, '') || 'item'}-${String(publicId)}`;
}
