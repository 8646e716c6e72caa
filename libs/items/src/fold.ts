/**
 * Marks that a reader takes for an accent on a letter: combining diacritics, Arabic and Hebrew vowel
 * points, the tatweel, the soft hyphen, variation selectors. Vowel signs of Indic and other scripts
 * are letters to a reader and stay, as do the voicing marks of kana.
 */
const DIACRITICS =
  /[[[[\p{Script=Inherited}\p{Script=Hebrew}\p{Script=Arabic}]&&\p{M}]\u{0640}\u{00AD}]--[\u{3099}\u{309A}]]/gv;

/** Letters with a stroke, ligatures and variant letters, which Unicode does not decompose. */
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
};
const SPECIAL_LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g');

/** Runs of what is a combining mark once it is decomposed: the halfwidth voicing marks of kana are letters by category. */
const MARKS = /[\p{M}\u{FF9E}\u{FF9F}]+/gu;
/** No natural text has more in a row: Unicode's Stream-Safe Text Format (https://unicode.org/reports/tr15/#Stream_Safe_Text_Format). */
const MAX_MARKS = 30;

/** A character may fold into eighteen: a text is folded in pieces until enough of it is. */
const PIECE = /.{1,1000}[\p{M}\u{FF9E}\u{FF9F}]*/gsu;

/**
 * Returns the form in which texts are compared, its first `length` UTF-16 code units: compatibility characters,
 * diacritics and case make no difference ("Crème" = "creme", "Straße" = "STRASSE", "İ" = "i", "ё" = "е").
 * Composed again (NFC), so that a Korean syllable counts as one character.
 */
export function fold(text: string, length = Infinity): string {
  let folded = '';
  for (const [piece] of text.matchAll(PIECE)) {
    folded += foldPiece(piece);
    if (folded.length >= length) break;
  }
  return folded.slice(0, length).normalize('NFC');
}

function foldPiece(piece: string): string {
  const decomposed = withoutLongRuns(piece).normalize('NFKD');
  const plain = decomposed.replace(DIACRITICS, '');
  const folded = plain
    // Down, up and down again: ẞ → ß → SS → ss, and ı → I → i.
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replace(SPECIAL_LETTER, (letter) => LETTERS[letter] ?? letter);
  // Where a tatweel or soft hyphen was removed, two runs have become one.
  return plain === decomposed ? folded : withoutLongRuns(folded);
}

/** Drops the marks of a run beyond the first {@link MAX_MARKS}: ordering them takes time with the square of their number. */
function withoutLongRuns(text: string): string {
  return text.replace(MARKS, (run) => (run.length > MAX_MARKS ? Array.from(run).slice(0, MAX_MARKS).join('') : run));
}
