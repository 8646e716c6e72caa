/** How long a task waits for its turn. */
export interface WaitLimits {
  /** In ms of `performance.now()`. */
  deadline: number;
  /** Settles when the result is not wanted any more. */
  gone?: Promise<unknown>;
}

/** Returned in place of the result of a task whose wait was over before its turn came. The task was not run. */
export const EXPIRED = Symbol('expired');

/** Runs at most `limit` tasks at a time; the others wait in the order in which they came. */
export class Limiter {
  private readonly waiting = new Set<() => void>();
  private running = 0;

  constructor(private readonly limit: number) {}

  async run<T>(task: () => Promise<T>, limits: WaitLimits): Promise<T | typeof EXPIRED> {
    if (this.running < this.limit) this.running++;
    else if (!(await this.turn(limits))) return EXPIRED;
    try {
      return await task();
    } finally {
      this.startNext();
    }
  }

  /** Settles with whether the turn came in time. */
  private turn({ deadline, gone }: WaitLimits): Promise<boolean> {
    return new Promise((resolve) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve(true);
      };
      const expire = (): void => {
        this.waiting.delete(start);
        clearTimeout(timer);
        resolve(false);
      };
      const timer = setTimeout(expire, deadline - performance.now());
      void gone?.then(expire);
      this.waiting.add(start);
    });
  }

  /** The slot of a task that has ended goes to the next one. */
  private startNext(): void {
    const [start] = this.waiting;
    if (start === undefined) {
      this.running--;
      return;
    }
    this.waiting.delete(start);
    start();
  }
}
