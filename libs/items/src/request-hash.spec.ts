import { CreateItemInputSchema } from '@app/contracts';
import { isSameRequest, requestHash } from './request-hash.js';

const INPUT = {
  name: 'Red city bike',
  description: 'Three gears, new tyres.',
  price: 149.5,
  categoryId: '7',
  stock: 1,
  brandId: null,
  conditionId: 2,
  isFeatured: false,
  images: ['https://images.example.com/bike.jpg'],
};
/** A hash as version 1 stores it. */
const STORED = '0c5EDubXssi2nnMspexgfdLw9MTyy1WEF7ZmwQV2Bbw';

describe('requestHash', () => {
  const hash = (input: object): string => requestHash(input, [['a', 'b', 'photos']]);

  it('a request hash ignores the order of keys at every level', () => {
    expect(hash({ a: 1, b: [{ c: null, d: 'x' }] })).toBe(hash({ b: [{ d: 'x', c: null }], a: 1 }));
  });

  it('a request hash treats an undefined key like an absent one', () => {
    expect(hash({ a: 1, photos: undefined })).toBe(hash({ a: 1 }));
  });

  it.each([
    [{ a: 1 }, { a: '1' }],
    [{ a: [1, 2] }, { a: [2, 1] }],
    [{ a: {} }, { a: [] }],
    [{ a: null }, {}],
    [{ a: null }, { a: 'null' }],
    [{ a: true }, { a: 'true' }],
    [{ a: '"b":1' }, { a: '', b: 1 }],
  ])('a request hash distinguishes %j from %j', (one, other) => {
    expect(hash(one)).not.toBe(hash(other));
  });

  it('a request hash never changes, because stored items are compared by it', () => {
    expect(requestHash(INPUT)).toBe(STORED);
  });

  it('a request hash covers every field of the input', () => {
    for (const field of Object.keys(CreateItemInputSchema.shape)) {
      expect([field, requestHash({ ...INPUT, [field]: 'other' }) === requestHash(INPUT)]).toEqual([field, false]);
    }
  });
});

describe('isSameRequest', () => {
  const FIRST = Object.keys(CreateItemInputSchema.shape).sort();
  const GROWN = [FIRST, [...FIRST, 'future'].sort()];

  it('isSameRequest distinguishes one request from another', () => {
    expect(isSameRequest(requestHash(INPUT), { ...INPUT })).toBe(true);
    expect(isSameRequest(requestHash(INPUT), { ...INPUT, price: 1 })).toBe(false);
    expect(isSameRequest(STORED, INPUT)).toBe(true);
  });

  it('isSameRequest recognizes a retry after the input has gained a field, whether or not the retry has it', () => {
    expect(isSameRequest(STORED, INPUT, GROWN)).toBe(true);
    expect(isSameRequest(STORED, { ...INPUT, future: null }, GROWN)).toBe(true);
    expect(isSameRequest(STORED, { ...INPUT, price: 1, future: null }, GROWN)).toBe(false);
  });

  it('isSameRequest compares a new field with hashes that cover it', () => {
    const stored = requestHash({ ...INPUT, future: 'one' }, GROWN);
    expect(stored).toMatch(/^2:/);
    expect(isSameRequest(stored, { ...INPUT, future: 'one' }, GROWN)).toBe(true);
    expect(isSameRequest(stored, { ...INPUT, future: 'two' }, GROWN)).toBe(false);
    expect(isSameRequest(stored, INPUT, GROWN)).toBe(false);
  });

  it('isSameRequest returns undefined for a version that is not known yet', () => {
    expect(isSameRequest(requestHash(INPUT, GROWN), INPUT, [FIRST])).toBeUndefined();
  });
});
