import { fold } from './fold.js';

/** In quadratic time, these texts would take minutes of CPU time. */
const MAX_MS = 2000;
const MEGABYTE = 500_000;

/** Returns the CPU time of this process in ms: unlike the wall clock, a busy machine does not change it much. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

describe('fold', () => {
  it.each([
    ['Crème BRÛLÉE', 'creme brulee'],
    ['e\u0301\u0323', 'e'],
    ['Straße STRASSE ẞ', 'strasse strasse ss'],
    ['İstanbul ışık', 'istanbul isik'],
    ['ёлка', 'елка'],
    ['한국어', '한국어'],
    ['हिन्दी में', 'हिन्दी में'],
    ['फ़ोन फ\u093cोन \u095eोन', 'फोन फोन फोन'],
    ['٠١٢٣٤٥٦٧٨٩ ۰۱۲۳۴۵۶۷۸۹', '0123456789 0123456789'],
    ['०१२३४५६७८९ ๐๑๒๓๔๕๖๗๘๙ ᪀᪉᪐᪙', '0123456789 0123456789 0909'],
    ['Компʼютер Oʻzbek', "комп'ютер o'zbek"],
    ['90 × 200 42½ ½', '90 x 200 42 1⁄2  1⁄2'],
    ['Nike™ GORE-TEX® ©2026', 'nike  gore-tex   2026'],
    ['\u30cf\uff9e \uff8a\uff9f', 'バ パ'],
    ['כִּסֵּא', 'כסא'],
    ['น้ำ น้\u0e4dา นํ้า', 'น้ำ น้ำ น้ำ'],
    ['ນ້ຳ ໜັງ ໝວກ ຫມວກ', 'ນ້ຳ ໜັງ ໝວກ ໝວກ'],
    ['می\u200cخ ශ්\u200dර', 'ميخ ශ්ර'],
    ['👩\u200d💻 👩🏽\u200d💻 ❤\ufe0f\u200d🔥', '👩\u200d💻 👩🏽\u200d💻 ❤\u200d🔥'],
    ['\u200d💻\u200d a\u200d💻 👩\u200d\u200d💻 👩\u200c💻', '💻 a💻 👩💻 👩💻'],
    [`a${'\u0301\u0323'.repeat(15)}b`, 'ab'],
    [`a${'\u0301\u0323'.repeat(16)}b`, 'ab'],
  ])('fold folds %j to %j', (text, folded) => {
    expect(fold(text)).toBe(folded);
  });

  it('fold composes a syllable anywhere in a long text', () => {
    const text = `${'x'.repeat(999)}한`;
    expect(fold(text.normalize('NFD'))).toBe(text);
  });

  it('fold keeps a sequence of emoji anywhere in a long text', () => {
    const texts = [998, 999, 1000].map((length) => `${'x'.repeat(length)}👩\u200d💻`);
    expect(texts.map((text) => fold(text))).toEqual(texts);
  });

  it('fold folds no more of a text than the requested length needs', () => {
    const since = cpuMs();
    expect(fold('\ufdfa'.repeat(MEGABYTE), 40)).toBe(fold('\ufdfa'.repeat(3)).slice(0, 40));
    expect(cpuMs() - since).toBeLessThan(MAX_MS / 10);
  });

  it.each([
    ['accents', `a${'\u0301\u0323'.repeat(MEGABYTE / 2)}`],
    ['accents before any letter', '\u0323\u0301'.repeat(MEGABYTE / 2)],
    ['marks that stay', `ক${'\u09cd\u09bc'.repeat(MEGABYTE / 2)}`],
    [
      'marks that stay, between characters that do not',
      `ক${`\u0640${'\u09cd\u09bc'.repeat(15)}`.repeat(MEGABYTE / 31)}`,
    ],
    ['marks that stay, between joiners', `ক${`\u200d${'\u09cd\u09bc'.repeat(15)}`.repeat(MEGABYTE / 31)}`],
    ['joiners', '\u200d'.repeat(MEGABYTE)],
    ['halfwidth voicing marks', `ｶ${'\uff9e\u0301'.repeat(MEGABYTE / 2)}`],
    ['marks past the BMP', `a${'\u{1d165}\u{1d16d}\u0323'.repeat(MEGABYTE / 5)}`],
    ['runs of thirty', `a${'\u0301\u0323'.repeat(15)}`.repeat(MEGABYTE / 31)],
  ])('fold folds %s in linear time', (_what, text) => {
    const since = cpuMs();
    expect(fold(text).length).toBeLessThan(text.length);
    expect(cpuMs() - since).toBeLessThan(MAX_MS);
  });
});
