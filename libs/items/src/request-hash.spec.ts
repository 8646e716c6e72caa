import { requestHash } from './request-hash.js';

describe('requestHash', () => {
  it('is the same for another order of keys, at every level', () => {
    expect(requestHash({ a: 1, b: [{ c: null, d: 'x' }] })).toBe(requestHash({ b: [{ d: 'x', c: null }], a: 1 }));
  });

  it('takes an absent and an undefined key for the same', () => {
    expect(requestHash({ a: 1, photos: undefined })).toBe(requestHash({ a: 1 }));
  });

  it.each([
    [{ a: 1 }, { a: '1' }],
    [{ a: [1, 2] }, { a: [2, 1] }],
    [{ a: {} }, { a: [] }],
    [{ a: null }, {}],
    [{ a: '"b":1' }, { a: '', b: 1 }],
  ])('tells %j from %j', (one, other) => {
    expect(requestHash(one)).not.toBe(requestHash(other));
  });
});
