import arabic from './data/languages/arabic.json';
import chinese from './data/languages/chinese.json';
import czech from './data/languages/czech.json';
import english from './data/languages/english.json';
import french from './data/languages/french.json';
import german from './data/languages/german.json';
import greek from './data/languages/greek.json';
import hebrew from './data/languages/hebrew.json';
import hindi from './data/languages/hindi.json';
import japanese from './data/languages/japanese.json';
import korean from './data/languages/korean.json';
import polish from './data/languages/polish.json';
import russian from './data/languages/russian.json';
import spanish from './data/languages/spanish.json';
import turkish from './data/languages/turkish.json';
import ukrainian from './data/languages/ukrainian.json';
import type { Language } from './language.js';

/** Sellers are spread evenly over this list. A language that is listed twice has twice as many sellers. */
export const LANGUAGES: readonly Language[] = [
  english,
  german,
  french,
  japanese,
  spanish,
  polish,
  arabic,
  english,
  czech,
  ukrainian,
  greek,
  chinese,
  turkish,
  german,
  hebrew,
  russian,
  korean,
  hindi,
];
