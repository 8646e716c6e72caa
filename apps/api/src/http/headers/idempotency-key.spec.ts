import { ApiError } from '../api-error.js';
import { idempotencyKeyOf } from './idempotency-key.js';

const VISIBLE = Array.from({ length: 0x7e - 0x21 + 1 }, (_, index) => String.fromCharCode(0x21 + index)).join('');

describe('idempotencyKeyOf', () => {
  it('idempotencyKeyOf returns undefined without a key', () => {
    expect(idempotencyKeyOf(undefined)).toBeUndefined();
  });

  it.each([['a'], ['k'.repeat(255)], [VISIBLE], ['9f0c2d1e-7a35-4f53-9c55-0c1a2b3c4d5e']])(
    'an Idempotency-Key may be %j',
    (key) => {
      expect(idempotencyKeyOf(key)).toBe(key);
    },
  );

  it.each([[''], ['k'.repeat(256)], ['a b'], [' '], ['a\t'], ['a\n'], ['a\x7f'], ['\x00'], ['ключ'], ['é'], ['🚲']])(
    'an Idempotency-Key must not be %j',
    (key) => {
      expect(() => idempotencyKeyOf(key)).toThrow(ApiError);
    },
  );

  it('an Idempotency-Key must not be sent more than once', () => {
    expect(() => idempotencyKeyOf(['a', 'b'])).toThrow(ApiError);
  });
});
