/**
 * Spreads work over turns of the event loop, so that other work runs in between. At most `perTurn` callers continue in
 * each turn.
 */
export class EventLoopTurns {
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly perTurn: number) {}

  /** Resolves in one of the next turns, in the order of the calls. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.waiting.push(resolve) === 1) this.schedule();
    });
  }

  private schedule(): void {
    setImmediate(() => {
      const next = this.waiting.splice(0, this.perTurn);
      if (this.waiting.length > 0) this.schedule();
      for (const resolve of next) resolve();
    });
  }
}
