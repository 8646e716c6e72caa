import { words } from './words.js';

/** The version of the rules below. The terms of items with an older version are derived again. */
export const SEARCH_VERSION = 5;

/** How many distinct words of a text are indexed. */
const INDEXED_WORDS = 200;
/** How many terms that searches for these words need are indexed in addition: up to five for a word of letters and digits. */
const INDEXED_JOINED = 5 * INDEXED_WORDS;
/** How many terms that these searches do without are indexed in addition: parts, and joined neighbours. */
const INDEXED_EXTRAS = 500;
/** The shortest prefix by which a word of the name or brand is found, in code points. */
const MIN_PREFIX_LENGTH = 2;
/** How many prefixes of an item are indexed, and how many characters of all of them. The longest are left out. */
const MAX_PREFIXES = { count: 1000, characters: 20_000 };

const QUERY_WORDS = 10;
const QUERY_CHARACTERS = 200;

/**
 * Returns the terms by which an item is found: the words of its name and brand with their prefixes, and the words of
 * its description. Terms are folded and distinct.
 */
export function searchTerms(item: { name: string; description: string; brandTitle?: string | null }): string[] {
  const named = distinctWords(`${item.name}\n${item.brandTitle ?? ''}`);
  return [...new Set([...named, ...prefixes(named), ...distinctWords(item.description)])];
}

/** Returns the stored fields that make an item findable. */
export function searchFields(item: Parameters<typeof searchTerms>[0]): {
  searchTerms: string[];
  searchVersion: number;
} {
  return { searchTerms: searchTerms(item), searchVersion: SEARCH_VERSION };
}

/**
 * Returns the terms that an item must have to match a search, all of them. Returns none if the search contains neither
 * a word nor an emoji, which counts as no search. Only the first {@link QUERY_WORDS} words of the first
 * {@link QUERY_CHARACTERS} code points count.
 */
export function queryTerms(search: string): string[] {
  const start = Array.from(search.slice(0, 2 * QUERY_CHARACTERS))
    .slice(0, QUERY_CHARACTERS)
    .join('');
  const terms = new Set<string>();
  let room = QUERY_WORDS;
  for (const { term, cost } of words(start, 'lookup')) {
    room -= cost;
    if (room < 0) break;
    terms.add(term);
  }
  return [...terms];
}

function distinctWords(text: string): Set<string> {
  const distinct = new Set<string>();
  let room = INDEXED_WORDS;
  let joined = 0;
  let extras = 0;
  for (const { term, cost, isExtra } of words(text, 'index')) {
    if (distinct.has(term)) continue;
    if (cost === 0 && (isExtra ? ++extras > INDEXED_EXTRAS : ++joined > INDEXED_JOINED)) continue;
    room -= cost;
    if (room < 0) break;
    distinct.add(term);
  }
  return distinct;
}

/** Returns the prefixes of the words, except those that are words themselves, shortest first. */
function prefixes(wholeWords: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  let room = MAX_PREFIXES.characters;
  let open = Array.from(wholeWords, (word) => ({ word, end: 0 }));
  for (let length = 1; open.length > 0; length++) {
    for (const each of open) each.end = nextCharacter(each.word, each.end);
    open = open.filter(({ word, end }) => end < word.length);
    if (length < MIN_PREFIX_LENGTH) continue;
    for (const { word, end } of open) {
      const prefix = word.slice(0, end);
      if (wholeWords.has(prefix) || found.has(prefix)) continue;
      room -= length;
      if (room < 0 || found.size === MAX_PREFIXES.count) return found;
      found.add(prefix);
    }
  }
  return found;
}

/** Returns the index of the next code point. */
function nextCharacter(word: string, at: number): number {
  return at + ((word.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}
