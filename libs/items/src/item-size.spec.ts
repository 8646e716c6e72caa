import { itemSize } from './item-size.js';

describe('itemSize', () => {
  it('counts the bytes of the JSON in UTF-8', () => {
    expect(itemSize({ name: 'Käse' }).bytes).toBe(16);
  });

  it('estimates little more heap than JSON for an item that is mostly text', () => {
    const { bytes, heapBytes } = itemSize({ description: 'x'.repeat(50_000), photos: [{}] });
    expect(heapBytes / bytes).toBeLessThan(1.01);
  });

  it('estimates many times more heap than JSON for an item that is mostly structure', () => {
    const { bytes, heapBytes } = itemSize({ photos: Array.from({ length: 20_000 }, () => ({})) });
    expect(heapBytes / bytes).toBeGreaterThan(20);
  });
});
