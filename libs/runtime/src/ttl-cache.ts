/** Caches up to `count` values for `forMs` each. A full cache is cleared before the next value is added. */
export class TtlCache<Key, Value> {
  private readonly entries = new Map<Key, { value: Value; until: number }>();

  constructor(private readonly options: { forMs: number; count: number }) {}

  get(key: Key): Value | undefined {
    const found = this.entries.get(key);
    return found !== undefined && found.until > performance.now() ? found.value : undefined;
  }

  set(key: Key, value: Value): void {
    const { forMs, count } = this.options;
    if (this.entries.size >= count) this.entries.clear();
    this.entries.set(key, { value, until: performance.now() + forMs });
  }
}
