import { cutByBytes } from './cut-by-bytes.js';

const bytes = (size: number): number => size;

describe('cutByBytes', () => {
  it('keeps the order and fills each part up to the limit', () => {
    expect(cutByBytes([3, 3, 4, 1, 9, 1, 1], bytes, 10)).toEqual([
      [3, 3, 4],
      [1, 9],
      [1, 1],
    ]);
  });

  it('puts an element that is larger than the limit into a part of its own', () => {
    expect(cutByBytes([1, 50, 1], bytes, 10)).toEqual([[1], [50], [1]]);
  });

  it('returns no parts for an empty list', () => {
    expect(cutByBytes([], bytes, 10)).toEqual([]);
  });
});
