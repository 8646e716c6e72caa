/** How long a task may wait for its turn. */
export interface WaitLimits {
  /** In ms of `performance.now()`. */
  deadline: number;
  /** Resolves when the result is no longer wanted. */
  gone?: Promise<unknown>;
}

/** Returned instead of a result if the wait of a task ended before its turn. The task was not run. */
export const EXPIRED = Symbol('expired');

/** Runs at most `limit` tasks at a time. The others wait in order of arrival. */
export class Limiter {
  private readonly waiting = new Set<() => void>();
  private running = 0;

  constructor(private readonly limit: number) {}

  /** Runs the task when its turn comes, and returns its result or {@link EXPIRED}. */
  async run<T>(task: () => Promise<T>, limits: WaitLimits): Promise<T | typeof EXPIRED> {
    if (this.running < this.limit) this.running++;
    else if (!(await this.turn(limits))) return EXPIRED;
    try {
      return await task();
    } finally {
      this.startNext();
    }
  }

  /** Resolves to whether the turn came in time. */
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

  /** Passes the slot of a finished task to the next waiting one. */
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
