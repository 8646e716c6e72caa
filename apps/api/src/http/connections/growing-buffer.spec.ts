import { GrowingBuffer } from './growing-buffer.js';

describe('GrowingBuffer', () => {
  it('a growing buffer returns what was appended in pieces', () => {
    const text = 'äöü🚲'.repeat(5000);
    const buffer = new GrowingBuffer();
    for (const byte of Buffer.from(text)) buffer.append(Buffer.of(byte));
    expect(buffer).toHaveLength(Buffer.byteLength(text));
    expect(buffer.capacity).toBeLessThanOrEqual(2 * buffer.length);
    expect(String(buffer.take())).toBe(text);
  });

  it.each([
    ['holds no more than the bytes that it expects', 10_000],
    ['collects more bytes than it expects', 7000],
  ])('a growing buffer %s', (_does, expected) => {
    const buffer = new GrowingBuffer(expected);
    const pieces = Array.from({ length: 10 }, (_, index) => Buffer.alloc(1000, index));
    for (const piece of pieces) {
      buffer.append(piece);
      expect(buffer.capacity).toBeLessThanOrEqual(Math.max(expected, 2 * buffer.length));
    }
    expect(buffer.take()).toEqual(Buffer.concat(pieces));
  });

  it('a growing buffer returns a single piece without copying or keeping it', () => {
    const buffer = new GrowingBuffer();
    const piece = Buffer.from('{}');
    buffer.append(piece);
    expect(buffer.take().buffer).toBe(piece.buffer);
    expect(buffer).toMatchObject({ length: 0, capacity: 0 });
    expect(buffer.take()).toHaveLength(0);
  });
});
