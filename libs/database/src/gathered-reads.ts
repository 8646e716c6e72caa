interface Waiting<T> {
  found: Promise<T | undefined>;
  resolve: (value: T | undefined) => void;
  reject: (error: unknown) => void;
}

/** While these many reads are under way, the next one gathers. */
const UNDER_WAY = 2;
const AT_MOST = 500;

/** Reads single things many at a time: those that are asked for at the same moment, or while reads are under way. */
export class GatheredReads<T> {
  private readonly waiting = new Map<string, Waiting<T>>();
  private underWay = 0;

  /** @param readMany what there is of these keys */
  constructor(private readonly readMany: (keys: readonly string[]) => Promise<Map<string, T>>) {}

  /** What there is under the key, read after it was asked for; a read that fails fails all who wait. */
  ask(key: string): Promise<T | undefined> {
    const waiting = this.waiting.get(key) ?? newWaiting<T>();
    this.waiting.set(key, waiting);
    if (this.waiting.size === 1) {
      setImmediate(() => {
        this.begin();
      });
    }
    return waiting.found;
  }

  private begin(): void {
    while (this.underWay < UNDER_WAY && this.waiting.size > 0) {
      const asked = [...this.waiting].slice(0, AT_MOST);
      for (const [key] of asked) this.waiting.delete(key);
      this.underWay++;
      void this.read(asked).finally(() => {
        this.underWay--;
        this.begin();
      });
    }
  }

  private async read(asked: [string, Waiting<T>][]): Promise<void> {
    try {
      const found = await this.readMany(asked.map(([key]) => key));
      for (const [key, { resolve }] of asked) resolve(found.get(key));
    } catch (error) {
      const behind = [...this.waiting];
      this.waiting.clear();
      for (const [, { reject }] of [...asked, ...behind]) reject(error);
    }
  }
}

function newWaiting<T>(): Waiting<T> {
  const waiting: Partial<Waiting<T>> = {};
  waiting.found = new Promise((resolve, reject) => Object.assign(waiting, { resolve, reject }));
  return waiting as Waiting<T>;
}
