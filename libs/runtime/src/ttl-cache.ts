/** Caches up to `count` values for `forMs` each. A full cache is cleared before the next value is added. */
export class TtlCache<Key, Value> {
  private readonly entries = new Map<Key, { value: Value; until: number }>();

  constructor(private readonly options: { forMs: number; count: number }) {}

  get(key: Key): Value | undefined {
    const found = this.entries.get(key);
    return found !== undefined && found.until > performance.now() ? found.value : undefined;
  }

  /** Returns the cached value, or caches and returns a new one. */
  getOrSet(key: Key, create: () => Value): Value {
    const found = this.get(key);
    if (found !== undefined) return found;
    const value = create();
    this.set(key, value);
    return value;
  }

  set(key: Key, value: Value): void {
    const { forMs, count } = this.options;
    if (this.entries.size >= count) this.entries.clear();
    this.entries.set(key, { value, until: performance.now() + forMs });
  }
}
