/** How long a task may wait for its turn. */
export interface WaitLimits {
  /** In ms of `performance.now()`. */
  deadline: number;
  /** Resolves when the result is no longer wanted. */
  cancelled?: Promise<unknown>;
  /** How much of the limit the task takes, 1 by default. A task that is larger than the limit runs alone. */
  weight?: number;
}

/** Returned instead of a result if the wait of a task ended before its turn. The task was not run. */
export const EXPIRED = Symbol('expired');

/** Runs tasks at the same time up to a total weight of `limit`. The others wait in order of arrival. */
export class Limiter {
  /** What starts each waiting task, and its weight. */
  private readonly waiting = new Map<() => void, number>();
  private running = 0;

  constructor(private readonly limit: number) {}

  /** Runs the task when its turn comes, and returns its result or {@link EXPIRED}. */
  async run<T>(task: () => Promise<T>, limits: WaitLimits): Promise<T | typeof EXPIRED> {
    const { weight = 1 } = limits;
    if (this.waiting.size === 0 && this.fits(weight)) this.running += weight;
    else if (!(await this.turn(weight, limits))) return EXPIRED;
    try {
      return await task();
    } finally {
      this.running -= weight;
      this.startWaiting();
    }
  }

  /** Resolves to whether the turn came in time. */
  private turn(weight: number, { deadline, cancelled }: WaitLimits): Promise<boolean> {
    return new Promise((resolve) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve(true);
      };
      const expire = (): void => {
        clearTimeout(timer);
        if (this.waiting.delete(start)) this.startWaiting();
        resolve(false);
      };
      const timer = setTimeout(expire, deadline - performance.now());
      void cancelled?.then(expire);
      this.waiting.set(start, weight);
    });
  }

  private startWaiting(): void {
    for (const [start, weight] of this.waiting) {
      if (!this.fits(weight)) return;
      this.waiting.delete(start);
      this.running += weight;
      start();
    }
  }

  private fits(weight: number): boolean {
    return this.running === 0 || this.running + weight <= this.limit;
  }
}
