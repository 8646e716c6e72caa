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
const SPECIAL_LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'gu');

/**
 * The form in which texts are compared: compatibility characters, diacritics and case make no
 * difference ("Crème" = "creme", "Straße" = "STRASSE", "İ" = "i", "ё" = "е"). Composed again (NFC),
 * so that a Korean syllable counts as one character.
 */
export function fold(text: string): string {
  return (
    text
      .normalize('NFKD')
      .replace(DIACRITICS, '')
      // Down, up and down again: ẞ → ß → SS → ss, and ı → I → i.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .replace(SPECIAL_LETTER, (letter) => LETTERS[letter] ?? letter)
      .normalize('NFC')
  );
}
