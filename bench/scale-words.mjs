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

/**
 * Chooses words to search for, by kind, by counting them in the small database. Also returns how many visible items of
 * each database contain them.
 * @param {import('mongoose').mongo.Db} small
 * @param {import('mongoose').mongo.Db} large
 */
export async function chooseWords(small, large) {
  const terms = await countTerms(small);
  const whole = await wholeWords(small);
  const words = terms.filter(({ term }) => whole.has(term));
  const [common] = words;
  const besideCommon = await countTerms(small, common.term);
  const partners = besideCommon
    .filter(({ term, items }) => whole.has(term) && term !== common.term && items >= SEARCH_PAGE)
    .map(({ term }) => term);
  const chosen = {
    common: [common.term],
    rare: [words.findLast(({ items }) => items >= SEARCH_PAGE).term],
    prefix: [terms.find(({ term }) => !whole.has(term)).term],
    'two common': [common.term, partners[0]],
    'common and rarer': [common.term, words.findLast(({ term }) => partners.includes(term)).term],
  };
  for (const [kind, items] of Object.entries(RARER_ITEMS)) chosen[kind] = await disjointPair(words, items, large);
  const counts = {};
  for (const term of Object.values(chosen).flat())
    counts[term] = [await countOf(term, small), await countOf(term, large)];
  return { words: chosen, counts };
}

/** Counts the readable terms of the visible items, or of those with the term `beside`. Returns the most frequent first. */
async function countTerms(db, beside) {
  const stages = [
    { $match: { isVisible: true, ...(beside && { searchTerms: beside }) } },
    { $unwind: '$searchTerms' },
    { $group: { _id: '$searchTerms', items: { $sum: 1 } } },
    { $sort: { items: -1, _id: 1 } },
  ];
  const found = await db.collection('items').aggregate(stages).toArray();
  return found.filter(({ _id }) => READABLE.test(_id)).map(({ _id: term, items }) => ({ term, items }));
}

/** Returns the terms that are words. The others are only prefixes of words. */
async function wholeWords(db) {
  const { words } = createRequire(import.meta.url)(join(ROOT, 'dist', 'libs', 'items', 'src', 'words.js'));
  const whole = new Set();
  for await (const { name, brandTitle, description } of db.collection('items').find({ isVisible: true })) {
    for (const { term } of words(`${name}\n${brandTitle}\n${description}`, 'index')) whole.add(term);
  }
  return whole;
}

/** Returns a common word and one in about `count` items of the large database that no item contains together. */
async function disjointPair(words, count, large) {
  for (const { term: rarer } of words) {
    const items = await countOf(rarer, large, { limit: count + 1 });
    if (items <= count / 2) break;
    if (items > count) continue;
    const beside = new Set((await countTerms(large, rarer)).map(({ term }) => term));
    const apart = words.slice(0, COMMON_WORDS).find(({ term }) => !beside.has(term));
    if (apart) return [apart.term, rarer];
  }
  throw new StepError('There are no two words that never occur together');
}

/** Counts the visible items that contain a term. */
function countOf(term, db, options) {
  return db.collection('items').countDocuments({ searchTerms: term, isVisible: true }, options);
}
