/** Limits the keys in Redis. An instance has at most twice as many per limit. */
export const MAX_NEW_WINDOWS = 10_000;

/** Limits how many callers may open a window during one window length. */
export class NewWindows {
  private count = 0;
  private until = 0;

  constructor(private readonly windowMs: number) {}

  /** Counts a window. Returns false if it is one too many. */
  add(): boolean {
    const now = performance.now();
    if (now >= this.until) {
      this.count = 0;
      this.until = now + this.windowMs;
    }
    this.count++;
    return this.count <= MAX_NEW_WINDOWS;
  }
}
