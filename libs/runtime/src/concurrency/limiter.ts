/** How long a task may wait for its turn, and how much of the limit it takes. */
export interface WaitLimits {
  /** In ms of `performance.now()`. None by default. */
  deadline?: number;
  /** Resolves when the result is no longer wanted. */
  cancelled?: Promise<unknown>;
  /** How much of the limit the task takes, 1 by default. A task that is larger than the limit runs alone. */
  weight?: number;
}

/** Returned instead of a result if the wait of a task ended before its turn. The task was not run. */
export const EXPIRED = Symbol('expired');

/** A task that takes longer than this, in ms, is late. */
const LATE_AFTER_MS = 100;

interface RunningTask {
  weight: number;
  /** In ms of `performance.now()`. */
  lateAt: number;
}

/**
 * Runs tasks at the same time up to a total weight of `limit`. The others wait in order of arrival. Late tasks do not
 * count towards `limit`, so that a few of them do not hold up the others. All running tasks, late or not, count towards
 * `max`.
 */
export class Limiter {
  /** What starts each waiting task, and its weight. */
  private readonly waiting = new Map<() => void, number>();
  private readonly running: RunningTask[] = [];
  /** Fires when the next running task becomes late. */
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly limit: number,
    private readonly max = limit,
  ) {}

  /**
   * Runs the task when its turn comes, and returns its result or {@link EXPIRED}.
   *
   * @param task may call `hold` when it begins to take memory: from then on it counts towards `limit`, however late it is
   */
  async run<T>(task: (hold: () => void) => Promise<T>, limits: WaitLimits = {}): Promise<T | typeof EXPIRED> {
    const { weight = 1 } = limits;
    const fits = this.waiting.size === 0 && this.fits(weight, performance.now());
    const started = fits ? this.begin(weight) : await this.turn(weight, limits);
    if (started === undefined) return EXPIRED;
    try {
      return await task(() => {
        started.lateAt = Infinity;
      });
    } finally {
      this.running.splice(this.running.indexOf(started), 1);
      this.startWaiting();
    }
  }

  /** Resolves when the turn comes, or to undefined if it does not come in time. */
  private turn(weight: number, { deadline, cancelled }: WaitLimits): Promise<RunningTask | undefined> {
    return new Promise((resolve) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve(this.begin(weight));
      };
      const expire = (): void => {
        clearTimeout(timer);
        if (this.waiting.delete(start)) this.startWaiting();
        resolve(undefined);
      };
      const timer = deadline === undefined ? undefined : setTimeout(expire, deadline - performance.now());
      void cancelled?.then(expire);
      this.waiting.set(start, weight);
      this.startWaiting();
    });
  }

  private startWaiting(): void {
    const now = performance.now();
    for (const [start, weight] of this.waiting) {
      if (!this.fits(weight, now)) {
        this.startWhenLate(now);
        return;
      }
      this.waiting.delete(start);
      start();
    }
  }

  /** Starts waiting tasks when the next running one becomes late, if that makes room for them. */
  private startWhenLate(now: number): void {
    if (this.timer !== undefined || this.max === this.limit) return;
    const next = Math.min(...this.running.map(({ lateAt }) => lateAt).filter((lateAt) => lateAt > now));
    if (next === Infinity) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.startWaiting();
    }, next - now);
  }

  private begin(weight: number): RunningTask {
    const task = { weight, lateAt: performance.now() + LATE_AFTER_MS };
    this.running.push(task);
    return task;
  }

  private fits(weight: number, now: number): boolean {
    if (this.running.length === 0) return true;
    let [onTime, all] = [0, 0];
    for (const task of this.running) {
      all += task.weight;
      if (task.lateAt > now) onTime += task.weight;
    }
    return onTime + weight <= this.limit && all + weight <= this.max;
  }
}
