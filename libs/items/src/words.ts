import { fold } from './fold.js';

/** A word as it is indexed and looked up, and how much of a limit in words it uses up. */
export interface Word {
  term: string;
  cost: number;
}

const LONGEST = 200;
/** A word of more runs of letters and digits, as a serial number is, is looked up whole. */
const MOST_RUNS = 4;
/** Two adjoining characters of a script without spaces stand for half a word: words there have two or three. */
const PAIR_COST = 0.5;

/** Chinese and Japanese: no spaces between words. */
const UNSPACED = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}]`;
/** South-East Asia: no spaces either, but words that a dictionary finds reliably. */
const DICTIONARY = String.raw`[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]`;
const OTHER = `[${UNSPACED}${DICTIONARY}]`;

/** Its first group is a run of {@link UNSPACED}, its second one of {@link DICTIONARY}. */
const PART = new RegExp(
  [
    String.raw`([${UNSPACED}&&[\p{L}\p{M}\p{N}]]+)`,
    String.raw`([${DICTIONARY}&&[\p{L}\p{M}\p{N}]]+)`,
    String.raw`([[\p{L}\p{N}]--${OTHER}][[\p{L}\p{M}\p{N}]--${OTHER}]*)`,
    // Flags, and pictographs with their skin tones and joined companions.
    String.raw`(\p{RI}{2}|\p{ExtPict}\p{EMod}?(?:\u{200D}\p{ExtPict}\p{EMod}?)*)`,
  ].join('|'),
  'gv',
);

/** Letters alone or digits alone. */
const RUN = /\p{N}[\p{N}\p{M}]*|\p{L}[\p{L}\p{M}]*/gv;
const NUMBER = /\p{N}/v;
const NUMBER_FIRST = /^\p{N}/v;
/** What may stand between two words that are also found as one, as in "iphone 13" and "wh-1000". */
const JOINT = /^[ \t\p{Pd}_.]*$/v;

/** In folded characters: a text of few words that are repeated is read to its end. */
const LONGEST_TEXT = 32_768;

/** The dictionary's time grows with the square of what it cuts: a megabyte in one piece would take minutes. */
const PIECE = 500;
const dictionary = new Intl.Segmenter('th', { granularity: 'word' });

/**
 * Returns the words of a text in its order, folded (see {@link fold}). Everything between runs of letters
 * and digits separates them: "AB-123" is two words, "l'été" is "l" and "ete".
 *
 * Where letters and digits adjoin, in a word or with a space or hyphen between, both runs together are a term as well:
 * "iPhone 13 Pro" and "iphone13pro" have "iphone13" and "13pro", by which "iphone13pro" is looked up.
 *
 * A Chinese or Japanese run gives every two adjoining characters, so that any part of it is found however it would be cut
 * into words; to be indexed it gives every single character too.
 */
export function* words(text: string, purpose: 'index' | 'lookup'): Generator<Word> {
  const folded = fold(text, LONGEST_TEXT);
  let before: { run: string; end: number } | undefined;
  for (const { 0: part, 1: unspaced, 2: dictionary, 3: spaced, index } of folded.matchAll(PART)) {
    const last = before;
    before = undefined;
    if (unspaced !== undefined) yield* pairs(unspaced, purpose);
    else if (dictionary !== undefined) yield* dictionaryWords(dictionary);
    else if (spaced === undefined) yield { term: part, cost: 1 };
    else if (purpose === 'lookup') yield* lookedUp(cut(spaced));
    else {
      const word = cut(spaced);
      const runs = runsOf(word);
      yield* indexed(word, runs);
      if (runs.length > MOST_RUNS) continue;
      before = { run: runs.at(-1) ?? word, end: index + spaced.length };
      const adjoins = last !== undefined && isNumber(last.run) !== isNumber(word);
      if (adjoins && JOINT.test(folded.slice(last.end, index))) yield* free(joined([last.run, runs[0] ?? word]));
    }
  }
}

function* lookedUp(word: string): Generator<Word> {
  const runs = runsOf(word);
  const [first = word, ...others] = runs.length === 1 || runs.length > MOST_RUNS ? [word] : joined(runs);
  yield { term: first, cost: 1 };
  yield* free(others);
}

/** The word, and what it or a beginning of it is looked up by; its runs too, unless they are too many. */
function* indexed(word: string, runs: string[]): Generator<Word> {
  yield { term: word, cost: 1 };
  if (runs.length === 1) return;
  yield* free(joined(runs.slice(0, MOST_RUNS)));
  if (runs.length <= MOST_RUNS) yield* free(runs);
}

function runsOf(word: string): string[] {
  return NUMBER.test(word) ? (word.match(RUN) ?? []) : [word];
}

function* free(terms: string[]): Generator<Word> {
  for (const term of terms) yield { term, cost: 0 };
}

/** Every two runs that adjoin. */
function joined(runs: string[]): string[] {
  return runs.slice(1).map((run, index) => cut((runs[index] ?? '') + run));
}

/** Whether it begins with a digit. */
function isNumber(run: string): boolean {
  const first = run.charCodeAt(0);
  return first < 0x80 ? first < 0x3a : NUMBER_FIRST.test(run);
}

function* pairs(run: string, purpose: 'index' | 'lookup'): Generator<Word> {
  const characters = Array.from(run);
  if (characters.length === 1) yield { term: run, cost: 1 };
  let previous: string | undefined;
  for (const character of characters) {
    if (purpose === 'index') yield { term: character, cost: 0 };
    if (previous !== undefined) yield { term: previous + character, cost: PAIR_COST };
    previous = character;
  }
}

function* dictionaryWords(run: string): Generator<Word> {
  for (let start = 0; start < run.length; start += PIECE) {
    for (const { segment } of dictionary.segment(run.slice(start, start + PIECE))) yield { term: segment, cost: 1 };
  }
}

/** Bounds the size of an index key; a query is cut in the same way. */
function cut(term: string): string {
  return term.length <= LONGEST ? term : Array.from(term).slice(0, LONGEST).join('');
}
