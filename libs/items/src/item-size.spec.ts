import { itemSize } from './item-size.js';

describe('the size of an item', () => {
  it('is that of its JSON in UTF-8', () => {
    expect(itemSize({ name: 'Käse' }).bytes).toBe(16);
  });

  it('is on the heap near that of its JSON where it is mostly text', () => {
    const { bytes, heapBytes } = itemSize({ description: 'x'.repeat(50_000), photos: [{}] });
    expect(heapBytes / bytes).toBeLessThan(1.01);
  });

  it('is on the heap many times that of its JSON where it is mostly structure', () => {
    const { bytes, heapBytes } = itemSize({ photos: Array.from({ length: 20_000 }, () => ({})) });
    expect(heapBytes / bytes).toBeGreaterThan(20);
  });
});
