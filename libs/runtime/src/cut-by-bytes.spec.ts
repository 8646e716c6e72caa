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

  it('makes a part of its own of an element that is larger than the limit', () => {
    expect(cutByBytes([1, 50, 1], bytes, 10)).toEqual([[1], [50], [1]]);
  });

  it('makes no part of nothing', () => {
    expect(cutByBytes([], bytes, 10)).toEqual([]);
  });
});
