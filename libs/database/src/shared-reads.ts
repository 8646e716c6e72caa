interface Read<T> {
  underWay: Promise<T>;
  /** The one that begins when that is over, for those who have asked meanwhile. */
  next?: Promise<T>;
}

/**
 * Lets those who ask for the same share one read, but only those who asked before it began: nobody is answered with
 * something older than what was stored when they asked.
 */
export class SharedReads<T> {
  private readonly reads = new Map<string, Read<T>>();

  /** What `read` answers, begun by this caller or by another with the same key; one that fails also fails who waits for it to end. */
  ask(key: string, read: () => Promise<T>): Promise<T> {
    const current = this.reads.get(key);
    if (current === undefined) return this.begin(key, read);
    current.next ??= current.underWay.then(() => this.begin(key, read));
    return current.next;
  }

  private begin(key: string, read: () => Promise<T>): Promise<T> {
    const current: Read<T> = { underWay: read() };
    this.reads.set(key, current);
    current.underWay.then(
      () => {
        if (current.next === undefined) this.reads.delete(key);
      },
      () => this.reads.delete(key),
    );
    return current.underWay;
  }
}
