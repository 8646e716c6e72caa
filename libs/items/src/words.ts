import { fold } from './fold.js';

/** A word as it is indexed and looked up. */
export interface Word {
  term: string;
  /** How much of a limit on words it uses. */
  cost: number;
  /** Whether only a search for a part of the word, or for the word joined with its neighbour, needs it. */
  isExtra?: true;
}

const MAX_TERM_LENGTH = 200;
/**
 * A word with more runs of letters and digits, such as a serial number, is looked up as a whole. Three measures with
 * their unit, as in "120x60x75cm", have six.
 */
const MAX_RUNS = 6;
/** A pair of characters counts as half a word, because words without spaces have two or three characters. */
const PAIR_COST = 0.5;

/** Chinese and Japanese, which are written without spaces. */
const UNSPACED = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}]`;
/** South-East Asian scripts, also written without spaces, whose words a dictionary finds reliably. */
const DICTIONARY = String.raw`[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]`;
const OTHER = `[${UNSPACED}${DICTIONARY}]`;

/** Group 1 is a run of {@link UNSPACED}, group 2 a run of {@link DICTIONARY}, group 3 a word of any other script. */
const PART = new RegExp(
  [
    String.raw`([${UNSPACED}&&[\p{L}\p{M}\p{N}]]+)`,
    String.raw`([${DICTIONARY}&&[\p{L}\p{M}\p{N}]]+)`,
    String.raw`([[\p{L}\p{N}]--${OTHER}][[\p{L}\p{M}\p{N}]--${OTHER}]*)`,
    // Flags, and pictographs with skin tones and zero-width joiner sequences.
    String.raw`(\p{RI}{2}|\p{ExtPict}\p{EMod}?(?:\u{200D}\p{ExtPict}\p{EMod}?)*)`,
  ].join('|'),
  'gv',
);

/** A run of letters only or digits only. */
const RUN = /\p{N}[\p{N}\p{M}]*|\p{L}[\p{L}\p{M}]*/gv;
const NUMBER = /\p{N}/v;
const NUMBER_FIRST = /^\p{N}/v;
/** What may separate two runs that are also indexed as one term, as in "iphone 13" and "wh-1000". */
const SEPARATOR = /^[ \t\p{Pd}_.]*$/v;
/** Also joins two runs, because many writers omit it. */
const APOSTROPHE = /^['’‘`׳]$/v;

/** In folded characters. Bounds the work for a text whose few words repeat, which never reaches a limit on words. */
const MAX_TEXT_LENGTH = 32_768;

/** Segmentation takes quadratic time, so long runs are segmented in pieces of this length. */
const PIECE = 500;
/** In how many parts the dictionary may divide a compound, and how many characters a compound may have. */
const MAX_COMPOUND = { parts: 4, characters: 30 };
const dictionary = new Intl.Segmenter('th', { granularity: 'word' });
/** Whether each text is one word. A look-up takes microseconds, and a long text repeats the same few words. */
const areWords = new Map<string, boolean>();
const MAX_REMEMBERED = 10_000;

/**
 * Yields the words of a text in order, folded (see {@link fold}). Anything but letters, digits and emoji separates
 * words: "AB-123" is two words, "l'été" is "l" and "ete". For the index, letters beside an apostrophe also form a
 * joined term: "Levi's" is found as "levis" too.
 *
 * Adjacent runs of letters and digits, with or without a space or hyphen between them, also form a joined term.
 * "iPhone 13 Pro" and "iphone13pro" both yield "iphone13" and "13pro", the terms that a search for "iphone13pro" needs.
 *
 * A Chinese or Japanese run yields each pair of adjacent characters, so that any part of it is found regardless of how
 * it would be split into words. For the index, it also yields each single character.
 */
export function* words(text: string, purpose: 'index' | 'lookup'): Generator<Word> {
  const folded = fold(text, MAX_TEXT_LENGTH);
  let before: { run: string; end: number } | undefined;
  for (const { 0: part, 1: unspaced, 2: dictionary, 3: spaced, index } of folded.matchAll(PART)) {
    const last = before;
    before = undefined;
    if (unspaced !== undefined) yield* pairs(unspaced, purpose);
    else if (dictionary !== undefined) yield* dictionaryWords(dictionary, purpose);
    else if (spaced === undefined) yield { term: part, cost: 1 };
    else if (purpose === 'lookup') yield* lookedUp(truncate(spaced));
    else {
      const word = truncate(spaced);
      const runs = runsOf(word);
      yield* indexed(word, runs);
      if (runs.length > MAX_RUNS) continue;
      before = { run: runs.at(-1) ?? word, end: index + spaced.length };
      if (last !== undefined && areJoined(last.run, folded.slice(last.end, index), word))
        yield* extra(joined([last.run, runs[0] ?? word]));
    }
  }
}

function* lookedUp(word: string): Generator<Word> {
  const runs = runsOf(word);
  const [first = word, ...others] = runs.length === 1 || runs.length > MAX_RUNS ? [word] : joined(runs);
  yield { term: first, cost: 1 };
  yield* free(others);
}

/** Yields the word, the terms that a search for it or its prefix needs, and its runs unless there are too many. */
function* indexed(word: string, runs: string[]): Generator<Word> {
  yield { term: word, cost: 1 };
  if (runs.length === 1) return;
  yield* free(joined(runs.slice(0, MAX_RUNS)));
  if (runs.length <= MAX_RUNS) yield* extra(runs);
}

function runsOf(word: string): string[] {
  return NUMBER.test(word) ? (word.match(RUN) ?? []) : [word];
}

function* free(terms: string[]): Generator<Word> {
  for (const term of terms) yield { term, cost: 0 };
}

function* extra(terms: string[]): Generator<Word> {
  for (const term of terms) yield { term, cost: 0, isExtra: true };
}

/** Joins each pair of neighbouring runs. */
function joined(runs: string[]): string[] {
  return runs.slice(1).map((run, index) => truncate((runs[index] ?? '') + run));
}

function areJoined(run: string, separator: string, word: string): boolean {
  const isNumber = startsWithDigit(word);
  if (startsWithDigit(run) !== isNumber && SEPARATOR.test(separator)) return true;
  return !isNumber && APOSTROPHE.test(separator);
}

function startsWithDigit(run: string): boolean {
  const first = run.charCodeAt(0);
  return first < 0x80 ? first < 0x3a : NUMBER_FIRST.test(run);
}

function* pairs(run: string, purpose: 'index' | 'lookup'): Generator<Word> {
  const characters = Array.from(run);
  if (characters.length === 1) yield { term: run, cost: 1 };
  let previous: string | undefined;
  for (const character of characters) {
    if (purpose === 'index') yield { term: character, cost: 0, isExtra: true };
    if (previous !== undefined) yield { term: previous + character, cost: PAIR_COST };
    previous = character;
  }
}

/**
 * The dictionary may divide a compound in one text and not in another. So that it is found in both, the index has the
 * compound in addition to its parts, and a query has the compound only.
 */
function* dictionaryWords(run: string, purpose: 'index' | 'lookup'): Generator<Word> {
  for (let start = 0; start < run.length; start += PIECE) {
    const parts = Array.from(dictionary.segment(run.slice(start, start + PIECE)), ({ segment }) => segment);
    for (let at = 0; at < parts.length;) {
      const [part = '', ...compounds] = wordsAt(parts, at);
      yield { term: (purpose === 'lookup' ? compounds.at(-1) : undefined) ?? part, cost: 1 };
      if (purpose === 'index') yield* free(compounds);
      at += purpose === 'index' ? 1 : 1 + compounds.length;
    }
  }
}

/** Returns the part at an index, and each compound that begins with it. */
function wordsAt(parts: readonly string[], index: number): string[] {
  const found = [parts[index] ?? ''];
  for (const next of parts.slice(index + 1, index + MAX_COMPOUND.parts)) {
    const compound = `${found.at(-1) ?? ''}${next}`;
    if (compound.length > MAX_COMPOUND.characters || !isWord(compound)) break;
    found.push(compound);
  }
  return found;
}

function isWord(text: string): boolean {
  const known = areWords.get(text);
  if (known !== undefined) return known;
  const isOne = dictionary.segment(text).containing(0)?.segment === text;
  if (areWords.size === MAX_REMEMBERED) areWords.clear();
  areWords.set(text, isOne);
  return isOne;
}

/** Limits the size of an index key. The words of a query are truncated in the same way. */
function truncate(term: string): string {
  return term.length <= MAX_TERM_LENGTH ? term : Array.from(term).slice(0, MAX_TERM_LENGTH).join('');
}
