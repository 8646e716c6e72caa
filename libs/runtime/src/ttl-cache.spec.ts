import { TtlCache } from './ttl-cache.js';

describe('TtlCache', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('a TTL cache drops a value after its time to live', () => {
    const cache = new TtlCache<string, number>({ forMs: 1000, count: 10 });
    cache.set('a', 1);
    jest.advanceTimersByTime(999);
    expect(cache.get('a')).toBe(1);
    jest.advanceTimersByTime(1);
    expect(cache.get('a')).toBeUndefined();
  });

  it('a TTL cache drops the older half of its values when it is full', () => {
    const cache = new TtlCache<number, string>({ forMs: 1000, count: 4 });
    [1, 2, 3, 4, 5].forEach((key) => {
      cache.set(key, 'x');
    });
    expect([1, 2, 3, 4, 5].map((key) => cache.get(key))).toEqual([undefined, undefined, 'x', 'x', 'x']);
  });

  it('a TTL cache returns the newest value of a key', () => {
    const cache = new TtlCache<number, string>({ forMs: 1000, count: 2 });
    cache.set(1, 'old');
    cache.set(2, 'x');
    cache.set(1, 'new');
    expect([1, 2].map((key) => cache.get(key))).toEqual(['new', 'x']);
  });
});
