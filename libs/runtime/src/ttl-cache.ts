interface Entry<Value> {
  value: Value;
  until: number;
}

/** Caches up to `count` values for `forMs` each. A full cache drops the older half before the next value is added. */
export class TtlCache<Key, Value> {
  private newer = new Map<Key, Entry<Value>>();
  private older = new Map<Key, Entry<Value>>();

  constructor(private readonly options: { forMs: number; count: number }) {}

  get(key: Key): Value | undefined {
    const found = this.newer.get(key) ?? this.older.get(key);
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
    if (this.newer.size >= count / 2) [this.older, this.newer] = [this.newer, new Map<Key, Entry<Value>>()];
    this.newer.set(key, { value, until: performance.now() + forMs });
  }
}
