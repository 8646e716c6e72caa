import { TtlCache } from './ttl-cache.js';

describe('TtlCache', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('forgets after a while', () => {
    const memory = new TtlCache<string, number>({ forMs: 1000, count: 10 });
    memory.set('a', 1);
    jest.advanceTimersByTime(999);
    expect(memory.get('a')).toBe(1);
    jest.advanceTimersByTime(1);
    expect(memory.get('a')).toBeUndefined();
  });

  it('begins anew when it is full', () => {
    const memory = new TtlCache<number, string>({ forMs: 1000, count: 2 });
    [1, 2, 3].forEach((key) => {
      memory.set(key, 'x');
    });
    expect([1, 2, 3].map((key) => memory.get(key))).toEqual([undefined, undefined, 'x']);
  });
});
