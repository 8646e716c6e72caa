import { printable } from './printable.js';

describe('printable', () => {
  it.each([
    ['ESC', '\u001B[31mred', '\\u001b[31mred'],
    ['line breaks', 'a\r\nb\u2028c\u2029d\u0085e', 'a\\u000d\\u000ab\\u2028c\\u2029d\\u0085e'],
    ['C1 controls', '\u009B2J\u009D', '\\u009b2J\\u009d'],
    ['NUL, backspace and DEL', '\0\b\u007F', '\\u0000\\u0008\\u007f'],
    ['bidi controls', '\u202Etxt\u2066\u200F\u061C', '\\u202etxt\\u2066\\u200f\\u061c'],
  ])('printable escapes %s', (_, text, expected) => {
    expect(printable(text)).toBe(expected);
  });

  it('printable keeps text of any language, and the controls that it is told to keep', () => {
    expect(printable('Crème “Größe” 日本語 שלום 👩‍👧 \\n')).toBe('Crème “Größe” 日本語 שלום 👩‍👧 \\n');
    expect(printable('a\n\tb\rc', '\n\t')).toBe('a\n\tb\\u000dc');
  });

  it('printable keeps the meaning of JSON', () => {
    const value = { text: '\u009B2J\u2028\u202E"\\', list: [1] };
    expect(JSON.parse(printable(JSON.stringify(value, null, 2), '\n'))).toEqual(value);
  });
});
