import { isApiKey, newApiKey } from './api-key.js';

describe('an API key', () => {
  it('an API key consists of a prefix, 256 random bits and a checksum', () => {
    const keys = Array.from({ length: 100 }, newApiKey);
    expect(new Set(keys).size).toBe(100);
    for (const key of keys) {
      expect(key).toMatch(/^ils_[0-9A-Za-z]{49}$/);
      expect(isApiKey(key)).toBe(true);
    }
  });

  it('an API key is recognised by its checksum', () => {
    const key = newApiKey();
    for (let index = 0; index < key.length; index++) {
      const changed = key.slice(0, index) + (key[index] === 'x' ? 'y' : 'x') + key.slice(index + 1);
      expect(isApiKey(changed)).toBe(false);
    }
  });
});
