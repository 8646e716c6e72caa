import type { Language } from './language.js';
import { arabic } from './vocabulary/arabic.js';
import { chinese } from './vocabulary/chinese.js';
import { czech } from './vocabulary/czech.js';
import { english } from './vocabulary/english.js';
import { french } from './vocabulary/french.js';
import { german } from './vocabulary/german.js';
import { greek } from './vocabulary/greek.js';
import { hebrew } from './vocabulary/hebrew.js';
import { hindi } from './vocabulary/hindi.js';
import { japanese } from './vocabulary/japanese.js';
import { korean } from './vocabulary/korean.js';
import { polish } from './vocabulary/polish.js';
import { russian } from './vocabulary/russian.js';
import { spanish } from './vocabulary/spanish.js';
import { turkish } from './vocabulary/turkish.js';
import { ukrainian } from './vocabulary/ukrainian.js';

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
