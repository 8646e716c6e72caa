import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from '../tools/checkout/root.mjs';
import { StepError } from '../tools/steps.mjs';

/** Items per page of a search. All searches fill a page in both databases, except those for disjoint words. */
export const SEARCH_PAGE = 20;
/** Matches terms that a reader of the figures recognizes as words. */
const READABLE = /^\p{L}{3,}$/u;
const COMMON_WORDS = 300;
/** A search for disjoint words examines every item with the rarer one: about this many in the large database. */
const RARER_ITEMS = { disjoint: 300, 'disjoint, less rare': 1000 };
const DISJOINT_TRIES = 300;

/**
 * Chooses words to search for by counting them in the small database. Also returns how many visible items of each
 * database contain them.
 * @param {import('mongoose').mongo.Db} small
 * @param {import('mongoose').mongo.Db} large
 */
export async function chooseWords(small, large) {
  const { words, prefixes } = await countTerms(small);
  const common = words[0];
  const usable = words.filter(({ items }) => items.size >= SEARCH_PAGE);
  const together = words.slice(1).map((word) => ({ ...word, both: intersection(common.items, word.items) }));
  const partners = together.filter(({ both }) => both >= SEARCH_PAGE).sort((a, b) => b.both - a.both);
  const prefix = prefixes[0];
  if (partners.length === 0 || prefix === undefined) throw new StepError('There are too few items to search');
  const most = words.slice(0, COMMON_WORDS);
  const chosen = {
    common: [common.term],
    rare: [usable.at(-1).term],
    prefix: [prefix.term],
    'two common': [common.term, partners[0].term],
    'common and rarer': [common.term, leastOf(partners).term],
  };
  for (const [kind, items] of Object.entries(RARER_ITEMS)) {
    chosen[kind] = await disjointPair(most, await wordsInAbout(items, words, large), large);
  }
  return { chosen, frequencies: await countAll(new Set(Object.values(chosen).flat()), [small, large]) };
}

/** Returns the words and, separately, the terms that are only prefixes of words, most frequent first. */
async function countTerms(db) {
  const { words: wordsOf } = createRequire(import.meta.url)(join(ROOT, 'dist', 'libs', 'items', 'src', 'words.js'));
  const [words, prefixes] = [new Map(), new Map()];
  const fields = { name: 1, brandTitle: 1, description: 1, searchTerms: 1 };
  const items = db.collection('items').find({ isVisible: true }, { projection: fields });
  let number = 0;
  for await (const { name, brandTitle, description, searchTerms } of items) {
    const whole = new Set(Array.from(wordsOf(`${name}\n${brandTitle}\n${description}`, 'index'), ({ term }) => term));
    for (const term of searchTerms.filter((each) => READABLE.test(each))) {
      const terms = whole.has(term) ? words : prefixes;
      terms.set(term, (terms.get(term) ?? new Set()).add(number));
    }
    number += 1;
  }
  for (const word of words.keys()) prefixes.delete(word);
  return { words: byFrequency(words), prefixes: byFrequency(prefixes) };
}

function byFrequency(terms) {
  const counted = [...terms].map(([term, items]) => ({ term, items }));
  return counted.sort((a, b) => b.items.size - a.items.size);
}

/** Returns the first pair of a word and a rarer one that no item of either database contains together. */
async function disjointPair(words, rarer, large) {
  const pairs = rarer.flatMap((rare) => words.map((word) => [word, rare]));
  const apart = pairs.filter(([one, other]) => intersection(one.items, other.items) === 0);
  for (const pair of apart.slice(0, DISJOINT_TRIES)) {
    const terms = pair.map(({ term }) => term);
    const both = { searchTerms: { $all: terms }, isVisible: true };
    if ((await large.collection('items').findOne(both, { projection: { _id: 1 } })) === null) return terms;
  }
  throw new StepError('There are no two words that never occur together');
}

/** Returns the words in at most `count` items of the large database, but in more than half as many. */
async function wordsInAbout(count, words, large) {
  const near = [];
  for (const word of words) {
    const items = await countOf(word.term, large, count + 1);
    if (items <= count / 2) break;
    if (items <= count) near.push(word);
  }
  return near;
}

function countOf(term, db, limit) {
  return db.collection('items').countDocuments({ searchTerms: term, isVisible: true }, limit && { limit });
}

/** Counts the visible items of each database that contain the terms. */
async function countAll(terms, databases) {
  const counts = {};
  for (const term of terms) counts[term] = await Promise.all(databases.map((db) => countOf(term, db)));
  return counts;
}

function leastOf(words) {
  return words.reduce((least, word) => (word.items.size < least.items.size ? word : least));
}

function intersection(ones, others) {
  const [few, many] = ones.size < others.size ? [ones, others] : [others, ones];
  let count = 0;
  for (const one of few) if (many.has(one)) count += 1;
  return count;
}
