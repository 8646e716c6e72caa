/**
 * Lets a few through in each turn of the event loop, in order. Whoever comes in a burst then waits for its kind, and
 * everybody else waits for a few of them and not for all.
 */
export class Turnstile {
  private readonly waiting: (() => void)[] = [];
  private passed = 0;

  /** @param perTurn how many, asked in each turn anew */
  constructor(private readonly perTurn: () => number) {}

  /** Settles when it is this one's turn, at once unless many have come at the same time. */
  pass(): Promise<void> {
    if (this.waiting.length > 0 || this.passed >= this.perTurn())
      return new Promise((resolve) => this.waiting.push(resolve));
    this.count();
    return Promise.resolve();
  }

  private count(): void {
    if (this.passed === 0) {
      setImmediate(() => {
        this.passed = 0;
        this.letIn();
      });
    }
    this.passed++;
  }

  private letIn(): void {
    for (const resolve of this.waiting.splice(0, this.perTurn())) {
      this.count();
      resolve();
    }
  }
}
