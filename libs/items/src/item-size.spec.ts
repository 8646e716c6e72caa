import { itemSize } from './item-size.js';

describe('itemSize', () => {
  it('itemSize counts the bytes of the JSON in UTF-8', () => {
    expect(itemSize({ name: 'Käse' }, 16)?.bytes).toBe(16);
  });

  it.each([
    ['text', { name: 'Käse' }, 15],
    ['values', { photos: [[1, 2, 3], {}] }, 22],
  ])('itemSize returns undefined for an item of more bytes: %s', (_what, input, maxBytes) => {
    expect(itemSize(input, maxBytes)).toBeUndefined();
    expect(itemSize(input, maxBytes + 1)?.bytes).toBe(maxBytes + 1);
  });

  it('itemSize does not print the values of an item that is too large because of their number', () => {
    const stringify = jest.spyOn(JSON, 'stringify');
    expect(itemSize({ photos: [Array<number>(100).fill(1e23)] }, 200)).toBeUndefined();
    expect(stringify).not.toHaveBeenCalled();
    stringify.mockRestore();
  });

  it('itemSize estimates the size as an object', () => {
    expect(itemSize({ photos: [{}] }, 100)).toEqual({ bytes: 15, heapBytes: 15 + 4 * 64 });
  });
});
