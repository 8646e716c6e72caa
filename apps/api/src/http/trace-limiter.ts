/** Allows the first traces of each second, so that all requests are traced under low load, and few under high load. */
export class TraceLimiter {
  private second = 0;
  private begun = 0;

  constructor(private readonly perSecond: number) {}

  /** Counts a trace, and returns whether it may begin. */
  mayBegin(): boolean {
    const second = Math.trunc(performance.now() / 1000);
    if (second !== this.second) {
      this.second = second;
      this.begun = 0;
    }
    return this.begun++ < this.perSecond;
  }
}
