/**
 * Marks that readers see as an addition to a letter: combining diacritics, Arabic and Hebrew vowel points, the tatweel,
 * the nukta of Devanagari, the soft hyphen, variation selectors. Vowel signs of Indic and other scripts stay, because
 * readers see them as letters. So do the voicing marks of kana.
 */
const DIACRITICS =
  /[[[[\p{Script=Inherited}\p{Script=Hebrew}\p{Script=Arabic}]&&\p{M}]\u{093C}\u{0640}\u{00AD}]--[\u{3099}\u{309A}]]/gv;

/**
 * Letters with a stroke, ligatures and variant letters that Unicode does not decompose, letters that readers see as an
 * apostrophe, and the multiplication sign.
 */
const LETTERS: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ŧ: 't',
  þ: 'th',
  ς: 'σ',
  // Letters that writers and keyboards of Arabic and Persian use for each other.
  ى: 'ي',
  ی: 'ي',
  ک: 'ك',
  ة: 'ه',
  // Between two measures.
  '×': 'x',
  ʹ: "'",
  ʻ: "'",
  ʼ: "'",
  ʽ: "'",
  ʾ: "'",
  ʿ: "'",
};
const DIGIT = /\p{Nd}/u;
const SPECIAL_CHARACTER = new RegExp(String.raw`[${Object.keys(LETTERS).join('')}[\p{Nd}--[0-9]]]`, 'gv');

/** Signs after a word that readers ignore. Two of them decompose to letters, and the others would count as emoji. */
const TRADEMARKS = /[©®™℠]/g;
/** Fractions such as ½, which decompose to digits. */
const FRACTIONS = /[¼-¾⅐-⅞]/g;

/** What some Thai and Lao characters decompose to. NFC does not compose them, but dictionaries contain only them. */
const DECOMPOSED: [RegExp, string][] = [
  [/\u{0E4D}([\u{0E48}-\u{0E4B}]?)\u{0E32}/gu, '$1\u{0E33}'],
  [/\u{0ECD}([\u{0EC8}-\u{0ECB}]?)\u{0EB2}/gu, '$1\u{0EB3}'],
  [/\u{0EAB}\u{0E99}/gu, '\u{0EDC}'],
  [/\u{0EAB}\u{0EA1}/gu, '\u{0EDD}'],
];

/**
 * Zero-width joiners and non-joiners, which writers often omit. They change the shape of letters, and join emoji to one:
 * only those between two emoji stay.
 */
const JOINERS = /\u{200C}|(?<![\p{ExtPict}\p{EMod}])\u{200D}|\u{200D}(?!\p{ExtPict})/gv;

/** Runs of characters that decompose to marks. The halfwidth voicing marks of kana are letters by category. */
const MARKS = /[\p{M}\u{FF9E}\u{FF9F}]+/gu;
/**
 * The limit of Unicode's Stream-Safe Text Format. No natural text has more marks in a row.
 * See https://unicode.org/reports/tr15/#Stream_Safe_Text_Format.
 */
const MAX_MARKS = 30;

/** One character may fold to eighteen, so a text is folded piece by piece until the result is long enough. */
const PIECE = /.{1,1000}[\p{M}\u{FF9E}\u{FF9F}]*/gsu;

/**
 * Returns the form in which texts are compared, without differences in compatibility characters, diacritics and case
 * ("Crème" = "creme", "Straße" = "STRASSE", "İ" = "i", "ё" = "е", "١" = "1"). The decomposed form is truncated to
 * `length` UTF-16 code units and then composed (NFC), so that a Korean syllable counts as one character.
 */
export function fold(text: string, length = Infinity): string {
  let folded = '';
  for (const [piece] of text.matchAll(PIECE)) {
    folded += foldPiece(piece);
    if (folded.length >= length) break;
  }
  // Removed characters may have separated the marks of two pieces.
  const composed = withoutLongRuns(folded.slice(0, length).replace(JOINERS, '')).normalize('NFC');
  return DECOMPOSED.reduce((text, [decomposed, character]) => text.replace(decomposed, character), composed);
}

function foldPiece(piece: string): string {
  const decomposed = withoutLongRuns(piece).replace(TRADEMARKS, ' ').replace(FRACTIONS, ' $&').normalize('NFKD');
  const plain = decomposed.replace(DIACRITICS, '');
  const folded = plain
    // Lower, upper and lower case again: ẞ → ß → SS → ss, and ı → I → i.
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replace(SPECIAL_CHARACTER, (character) => LETTERS[character] ?? asciiDigit(character));
  // Removing a tatweel or soft hyphen may have merged two runs.
  return plain === decomposed ? folded : withoutLongRuns(folded);
}

/** Returns a digit of any script as an ASCII digit. The ten digits of a script follow each other. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (DIGIT.test(String.fromCodePoint(zero - 1))) zero--;
  return String((code - zero) % 10);
}

/** Truncates each run to {@link MAX_MARKS} marks, because normalization sorts a run in quadratic time. */
function withoutLongRuns(text: string): string {
  return text.replace(MARKS, (run) => (run.length > MAX_MARKS ? Array.from(run).slice(0, MAX_MARKS).join('') : run));
}
