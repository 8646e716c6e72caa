import { words } from './words.js';

/** The rules below, numbered: items with terms of an older number are derived anew. */
export const SEARCH_VERSION = 2;

/** Words of a text beyond these many distinct ones are not searchable. */
const INDEXED_WORDS = 200;
/** Nor are more parts of words, and words joined, than these. */
const INDEXED_PARTS = 500;
/** In code points: how short the beginnings are by which a word of the name or brand is found. */
const SHORTEST_BEGINNING = 2;
/** The longest beginnings of an item beyond these many are left out, and beyond these many characters of all together. */
const BEGINNINGS = { count: 1000, characters: 20_000 };

const QUERY_WORDS = 10;
const QUERY_CHARACTERS = 200;

/**
 * What an item is found by: the words of its name and brand with their beginnings, and the words of
 * its description, each folded and once.
 */
export function searchTerms(item: { name: string; description: string; brandTitle?: string | null }): string[] {
  const named = distinctWords(`${item.name}\n${item.brandTitle ?? ''}`);
  return [...new Set([...named, ...beginnings(named), ...distinctWords(item.description)])];
}

/** What an item is stored with to be found. */
export function searchFields(item: Parameters<typeof searchTerms>[0]): {
  searchTerms: string[];
  searchVersion: number;
} {
  return { searchTerms: searchTerms(item), searchVersion: SEARCH_VERSION };
}

/**
 * What an item must have to be found by this search, all of them; empty when the search holds no
 * word and no emoji, which is no search. Only the first {@link QUERY_WORDS} words of the first
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
  let parts = 0;
  for (const { term, cost } of words(text, 'index')) {
    if (distinct.has(term)) continue;
    if (cost === 0 && ++parts > INDEXED_PARTS) continue;
    room -= cost;
    if (room < 0) break;
    distinct.add(term);
  }
  return distinct;
}

/** Returns the beginnings of the words that are no words themselves, the shortest first. */
function beginnings(whole: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  let room = BEGINNINGS.characters;
  let open = Array.from(whole, (word) => ({ word, end: 0 }));
  for (let length = 1; open.length > 0; length++) {
    for (const each of open) each.end = nextCharacter(each.word, each.end);
    open = open.filter(({ word, end }) => end < word.length);
    if (length < SHORTEST_BEGINNING) continue;
    for (const { word, end } of open) {
      const beginning = word.slice(0, end);
      if (whole.has(beginning) || found.has(beginning)) continue;
      room -= length;
      if (room < 0 || found.size === BEGINNINGS.count) return found;
      found.add(beginning);
    }
  }
  return found;
}

/** Where the code point after this one begins. */
function nextCharacter(word: string, at: number): number {
  return at + ((word.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}
