/** The state of the queue at one moment. */
export interface Observation {
  /** In ms of `performance.now()`. */
  at: number;
  /** Jobs that a worker can take immediately. */
  waiting: number;
  /** Jobs completed or failed since the queue was created. */
  finished: number;
}

/** The period over which the rate is measured. */
const WINDOW_MS = 10_000;
/** How long jobs must have waited, and how many must have finished, before the rate is meaningful. */
const KNOWN_AFTER = { ms: 1000, jobs: 10 };
/** A longer period without a finished job is a stall, which says nothing about the rate before or after it. */
const STALL_MS = 3000;

/** Measures how fast the queue drains while jobs wait. While none do, throughput says nothing about capacity. */
export class DrainRate {
  /** Observations at which more jobs had finished than at the one before, oldest first. */
  private moves: Observation[] = [];
  private perMs: number | undefined;
  /** The time since which jobs have waited without one of them finishing. */
  private stalledSince: number | undefined;

  observe(current: Observation): void {
    const last = this.moves.at(-1);
    if (current.waiting === 0) {
      this.moves = [current];
      this.perMs = this.stalledSince = undefined;
      return;
    }
    if (current.finished === last?.finished) {
      this.stalledSince ??= current.at;
      return;
    }
    this.stalledSince = current.at;
    const isContinuous = last !== undefined && current.at - last.at < STALL_MS && current.finished > last.finished;
    this.moves = [...(isContinuous ? this.moves : []), current].filter(({ at }) => current.at - at <= WINDOW_MS);
    const [first = current] = this.moves;
    const [ms, jobs] = [current.at - first.at, current.finished - first.finished];
    if (ms >= KNOWN_AFTER.ms && jobs >= KNOWN_AFTER.jobs) this.perMs = jobs / ms;
  }

  /** How long jobs have waited without one of them finishing, in ms. */
  get stalledMs(): number {
    return this.stalledSince === undefined ? 0 : performance.now() - this.stalledSince;
  }

  /** Returns how long this many jobs take at the last known rate, in ms, or undefined if no rate is known. */
  drainMs(waiting: number): number | undefined {
    return this.perMs === undefined ? undefined : waiting / this.perMs;
  }
}
