import { itemIdForKey } from './item-id.js';

const SECRET = 'a secret of at least 32 characters';

describe('itemIdForKey', () => {
  it('the id for a key never changes, because items and jobs are found by it', () => {
    expect(itemIdForKey(SECRET, 'anonymous', 'a')).toBe('60070d7ce7a06b76462891c6');
  });

  it('the id for a key depends on the secret', () => {
    expect(itemIdForKey(`${SECRET}!`, 'anonymous', 'a')).not.toBe(itemIdForKey(SECRET, 'anonymous', 'a'));
  });

  it('the id for a key is another one for every caller and key, whatever characters they contain', () => {
    const parts = ['a', 'b', 'a|b', '|', 'a:b', ':', '"', '","', 'a","b', '[', '\\', 'ab', ''];
    const ids = parts.flatMap((caller) => parts.map((key) => itemIdForKey(SECRET, caller, key)));
    expect(new Set(ids).size).toBe(parts.length ** 2);
    expect(ids.every((id) => /^[0-9a-f]{24}$/.test(id))).toBe(true);
  });
});
