import { z } from 'zod';
import { categoryNumber, exactNumber, text, wholeNumber } from './fields.js';

describe('text', () => {
  it.each([
    ['abc', true],
    ['ab', false],
    ['', false],
    ['🚲🚲🚲', true],
    ['🚲🚲', false],
    ['🚲ab', true],
    ['🚲a', false],
    ['e\u0301a', true],
    ['\ud800abc', false],
    ['a\0b', true],
  ])('a text field counts the code points of %j', (value, fits) => {
    expect(text(3).safeParse(value).success).toBe(fits);
  });

  it('a text field reports what is wrong', () => {
    const messages = (value: unknown): string[] =>
      text(3)
        .safeParse(value)
        .error?.issues.map((i) => i.message) ?? [];
    expect(messages('ab')).toEqual(['Too short: expected at least 3 characters']);
    expect(messages('\ud800bcd')).toEqual([expect.stringContaining('lone surrogate')]);
    expect(messages(5)).toEqual([expect.stringContaining('expected string')]);
    expect(text(1).safeParse('').error?.issues[0]?.message).toBe('Too short: expected at least 1 character');
  });

  it.each([
    ['abc', true],
    ['abcd', false],
    ['🚲🚲🚲', true],
    ['🚲🚲🚲🚲', false],
    ['', false],
  ])('a text field accepts at most 3 code points: %j', (value, fits) => {
    expect(text(1, 3).safeParse(value).success).toBe(fits);
    expect(z.toJSONSchema(text(1, 3))).toMatchObject({ minLength: 1, maxLength: 3 });
  });

  it('a text field reports a text that is too long', () => {
    expect(text(0, 3).safeParse('abcd').error?.issues[0]?.message).toBe('Too long: expected at most 3 characters');
  });

  it('a text field accepts an empty string if there is no minimum', () => {
    expect(text().safeParse('').success).toBe(true);
    expect(text().safeParse('\udfff').success).toBe(false);
  });
});

describe('exactNumber and wholeNumber', () => {
  it.each([
    [0, true, true],
    [-9007199254740991, true, true],
    [1.5, true, false],
    [9007199254740992, true, false],
    [Infinity, false, false],
    [-Infinity, false, false],
    [NaN, false, false],
    ['1', false, false],
    [null, false, false],
  ])('exactNumber and wholeNumber accept %j: %j, %j', (value, isNumber, isWhole) => {
    expect(exactNumber().safeParse(value).success).toBe(isNumber);
    expect(wholeNumber().safeParse(value).success).toBe(isWhole);
  });

  it.each([exactNumber(), wholeNumber()])(
    'exactNumber and wholeNumber report a number that is too large to be stored exactly',
    (schema) => {
      expect(schema.safeParse(Infinity).error?.issues[0]?.message).toContain('cannot be stored exactly');
      expect(schema.safeParse('x').error?.issues[0]?.message).toContain('expected');
    },
  );
});

describe('categoryNumber', () => {
  it.each([
    ['0', 0],
    ['7', 7],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', null],
    ['07', null],
    ['-1', null],
    ['+1', null],
    ['1.0', null],
    ['1e3', null],
    [' 1', null],
    ['1\n', null],
    ['٣', null],
    ['', null],
    ['bikes', null],
    ['0x10', null],
  ])('categoryNumber reads %j as %j', (categoryId, number) => {
    expect(categoryNumber(categoryId)).toBe(number);
  });
});
