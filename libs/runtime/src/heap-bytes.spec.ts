import { heapBytesOf } from './heap-bytes.js';

describe('heapBytesOf', () => {
  const ratioOf = (value: unknown): number => {
    const json = JSON.stringify(value);
    return heapBytesOf(json) / Buffer.byteLength(json);
  };

  it('heapBytesOf counts the bytes of texts in UTF-8', () => {
    expect(heapBytesOf('"Käse"')).toBe(7);
  });

  it('heapBytesOf estimates little more heap than JSON for a value that is mostly text', () => {
    expect(ratioOf({ description: 'x'.repeat(50_000), photos: [{}] })).toBeLessThan(1.01);
  });

  it.each([
    ['objects', Array.from({ length: 20_000 }, () => ({})), 20],
    ['arrays', Array.from({ length: 20_000 }, () => []), 20],
    ['members', Object.fromEntries(Array.from({ length: 7000 }, (_, index) => [`k${String(index)}`, 1])), 6],
  ])('heapBytesOf estimates many times more heap than JSON for a value that is mostly %s', (_what, value, times) => {
    expect(ratioOf(value)).toBeGreaterThan(times);
  });
});
