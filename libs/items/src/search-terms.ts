import { words } from './words.js';

/** The rules below, numbered: items with terms of an older number are derived anew. */
export const SEARCH_VERSION = 1;

/** Words of a text beyond these many distinct ones are not searchable. */
const INDEXED_WORDS = 200;
/** Lengths, in code points, of the beginnings by which a word of the name or brand is found. */
const SHORTEST_BEGINNING = 2;
const LONGEST_BEGINNING = 12;

const QUERY_WORDS = 10;
const QUERY_CHARACTERS = 200;

/**
 * What an item is found by: the words of its name and brand with their beginnings, and the words of
 * its description, each folded and once.
 */
export function searchTerms(item: { name: string; description: string; brandTitle?: string | null }): string[] {
  const terms = new Set<string>();
  for (const word of distinctWords(`${item.name}\n${item.brandTitle ?? ''}`)) {
    terms.add(word);
    for (const beginning of beginnings(word)) terms.add(beginning);
  }
  for (const word of distinctWords(item.description)) terms.add(word);
  return [...terms];
}

/** What an item is stored with to be found; a text that is too much for a regular expression is found by nothing. */
export function searchFields(item: Parameters<typeof searchTerms>[0]): {
  searchTerms: string[];
  searchVersion: number;
} {
  try {
    return { searchTerms: searchTerms(item), searchVersion: SEARCH_VERSION };
  } catch {
    return { searchTerms: [], searchVersion: SEARCH_VERSION };
  }
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
  for (const { term, cost } of words(text, 'index')) {
    if (distinct.has(term)) continue;
    room -= cost;
    if (room < 0) break;
    distinct.add(term);
  }
  return distinct;
}

function* beginnings(word: string): Generator<string> {
  const characters = Array.from(word);
  const longest = Math.min(LONGEST_BEGINNING, characters.length - 1);
  for (let length = SHORTEST_BEGINNING; length <= longest; length++) yield characters.slice(0, length).join('');
}
