import { slugify } from 'transliteration';

const MAX_LENGTH = 80;
/** In code points: enough of any name to fill a slug. Transliterating a megabyte would take seconds. */
const MAX_READ = 1000;

/** Arabic letters that `transliteration` turns into punctuation, which would split the word. */
const ARABIC: Readonly<Record<string, string>> = { ة: 'a', ى: 'a', ئ: 'i', ؤ: 'u', ء: '' };
const ARABIC_LETTER = new RegExp(`[${Object.keys(ARABIC).join('')}]`, 'g');

/**
 * Returns the unique part of an item's path: the transliterated name, at most 80 characters of `a-z0-9-`, and the
 * `publicId`. Returns `item-{publicId}` if nothing is left of the name, as with emoji.
 */
export function itemSlug(name: string, publicId: number): string {
  const start = Array.from(name.slice(0, 2 * MAX_READ))
    .slice(0, MAX_READ)
    .join('');
  const readable = start.replace(ARABIC_LETTER, (letter) => ARABIC[letter] ?? '');
  const slug = slugify(readable, { allowedChars: 'a-zA-Z0-9', lowercase: true, separator: '-' });
  return `${slug.slice(0, MAX_LENGTH).replace(/^-+|-+$/g, '') || 'item'}-${String(publicId)}`;
}
