import { findInexactness, MAX_DEPTH } from './exact-value.js';

const pathsIn = (value: unknown): unknown[] => findInexactness(value).map(({ path }) => path);
const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

describe('findInexactness', () => {
  it.each([
    [null],
    [[]],
    [{}],
    [[0, -1.5, 'x', true, { a: { b: [null] } }]],
    ['🚲 \0'],
    [{ '': 1, 'a.b': 2, $set: 3, toJSON: 4, bsontype: 5 }],
    [JSON.parse('{"__proto__":{"a":1}}')],
    [{ $ref: 'items', $id: 1, $db: 'other' }],
    [{ $ref: 'a.b.c', $id: 1 }],
    [{ $ref: 'a.b', $id: null }],
    [{ $ref: 5, $id: 1 }],
  ])('findInexactness finds nothing in %j', (value) => {
    expect(findInexactness(value)).toEqual([]);
  });

  it.each([
    ['\ud800', []],
    [Infinity, []],
    [
      [1, [-Infinity]],
      [1, 0],
    ],
    [{ a: { b: 'x\udc00' } }, ['a', 'b']],
    [{ a: { _bsontype: 'x' } }, ['a', '_bsontype']],
    [{ 'a\0b': 1 }, ['a\0b']],
    [{ '\ud800': { a: '\ud800' } }, ['\ufffd']],
    [[{ $ref: 'a.b', $id: 0 }], [0]],
    [[JSON.parse('{"$ref":"a","$id":1,"__proto__":1}')], [0]],
  ])('findInexactness finds the path of the problem in %j', (value, path) => {
    expect(pathsIn(value)).toEqual([path]);
  });

  it('findInexactness finds all problems', () => {
    expect(pathsIn([Infinity, { a: '\ud800', _bsontype: 1 }])).toEqual([[0], [1, 'a'], [1, '_bsontype']]);
  });

  it(`findInexactness accepts at most ${String(MAX_DEPTH)} levels`, () => {
    expect(pathsIn(nested(MAX_DEPTH))).toEqual([]);
    expect(pathsIn(nested(MAX_DEPTH + 1))).toEqual([Array.from({ length: MAX_DEPTH }, () => 0)]);
    expect(pathsIn(nested(100_000))).toHaveLength(1);
  });

  it('findInexactness stops after a hundred reasons', () => {
    const wrongKeys = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`\0${String(index)}`, 0]));
    expect(findInexactness(wrongKeys)).toHaveLength(100);
    expect(findInexactness(Array.from({ length: 1000 }, () => [wrongKeys, Infinity]))).toHaveLength(100);
  });

  it('findInexactness shortens long keys in paths', () => {
    expect(pathsIn({ ['x'.repeat(1000)]: { ['🚲'.repeat(1000)]: Infinity } })).toEqual([
      [`${'x'.repeat(64)}…`, `${'🚲'.repeat(32)}…`],
    ]);
    expect(JSON.stringify(pathsIn({ [`x${'🚲'.repeat(1000)}`]: Infinity })).isWellFormed()).toBe(true);
  });
});
