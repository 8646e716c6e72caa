import { isTooComplex, MAX_JSON, parseExactJson } from './exact-json.js';

describe('parseExactJson', () => {
  it.each(['null', '[]', '{"a":[1,-2.5,1e3,"x"],"b":{"c":null}}', '[9007199254740991,-9007199254740991]', ' 1 '])(
    'parseExactJson reads %s like JSON.parse',
    (text) => {
      expect(parseExactJson(text)).toEqual(JSON.parse(text));
    },
  );

  it.each(['9007199254740992', '12345678901234567890', '1e400', '9'.repeat(400)])(
    'parseExactJson reads %s as Infinity',
    (number) => {
      expect(parseExactJson(`{"a":[0,${number}],"b":${number}}`)).toEqual({ a: [0, Infinity], b: Infinity });
    },
  );

  it.each([
    '12345678901234567890.0',
    '0.12345678901234567890',
    '1.2345678901234567890e5',
    '1e0000000000000000005',
    '1e-0000000000000000005',
    '12345678901234567890e0',
  ])('parseExactJson reads %s, which is not written as a whole number, like JSON.parse', (text) => {
    expect(parseExactJson(text)).toBe(JSON.parse(text));
  });

  it.each([
    '"12345678901234567890"',
    '"\\"12345678901234567890"',
    '"\\\\\\"12345678901234567890\\\\"',
    '{"12345678901234567890":"12345678901234567890"}',
    '["\\\\",":12345678901234567890,"]',
    '"\\u0022 12345678901234567890"',
  ])('parseExactJson leaves digits in strings unchanged: %s', (text) => {
    expect(parseExactJson(text)).toEqual(JSON.parse(text));
  });

  it('parseExactJson reads a large negative number as -Infinity or Infinity, both of which the schemas reject', () => {
    expect([Infinity, -Infinity]).toContain(parseExactJson('-9007199254740992'));
    expect(parseExactJson('-1e400')).toBe(-Infinity);
  });

  it('parseExactJson distinguishes digits after a string from digits in it', () => {
    expect(parseExactJson('["\\\\",12345678901234567890,"\\"",1]')).toEqual(['\\', Infinity, '"', 1]);
  });

  it('parseExactJson keeps __proto__ as an ordinary key', () => {
    const value = parseExactJson('{"__proto__":12345678901234567890}') as object;
    expect(Object.entries(value)).toEqual([['__proto__', Infinity]]);
  });

  it.each(['', '{', '[1,]', '01', 'NaN', '"\n"', '[12345678901234567890'])(
    'parseExactJson throws a SyntaxError for %j',
    (text) => {
      expect(() => parseExactJson(text)).toThrow(SyntaxError);
    },
  );

  it('parseExactJson parses strings of any length', () => {
    for (const text of ['x'.repeat(16_000_000), '\\n'.repeat(8_000_000)]) {
      expect(parseExactJson(`["${text}",12345678901234567890]`)).toHaveProperty('1', Infinity);
    }
  });
});

describe('isTooComplex', () => {
  const { structures, values } = MAX_JSON;

  it.each([
    ['arrays', (count: number) => `[${'[],'.repeat(count - 2)}[]]`, structures],
    ['objects', (count: number) => `[${'{},'.repeat(count - 2)}{}]`, structures],
    ['members', (count: number) => `{${'"a":1,'.repeat(count - 2)}"a":1}`, structures],
    ['levels', (count: number) => '['.repeat(count), structures],
    ['values', (count: number) => `[${'1,'.repeat(count - 1)}1]`, values],
  ])('isTooComplex returns true only for more than the maximum number of %s', (_what, textOf, most) => {
    expect(isTooComplex(textOf(most))).toBe(false);
    expect(isTooComplex(textOf(most + 1))).toBe(true);
  });

  it.each(['[{:,', '\\\\', '\\"[', '\\u005b'])(
    'isTooComplex does not count characters in strings: %s',
    (characters) => {
      expect(isTooComplex(JSON.stringify([characters.repeat(100_000)]))).toBe(false);
      expect(isTooComplex(`["${characters.repeat(100_000)}",${'[],'.repeat(structures)}1]`)).toBe(true);
    },
  );
});
