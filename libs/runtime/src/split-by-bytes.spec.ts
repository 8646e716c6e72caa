import { splitByBytes } from './split-by-bytes.js';

const bytes = (size: number): number => size;

describe('splitByBytes', () => {
  it('splitByBytes keeps the order and fills each part up to the limit', () => {
    expect(splitByBytes([3, 3, 4, 1, 9, 1, 1], bytes, 10)).toEqual([
      [3, 3, 4],
      [1, 9],
      [1, 1],
    ]);
  });

  it('splitByBytes puts an element that is larger than the limit into a part of its own', () => {
    expect(splitByBytes([1, 50, 1], bytes, 10)).toEqual([[1], [50], [1]]);
  });

  it('splitByBytes returns no parts for an empty list', () => {
    expect(splitByBytes([], bytes, 10)).toEqual([]);
  });
});
