/** What the queue looked like at one moment. */
export interface Observation {
  /** In ms of `performance.now()`. */
  at: number;
  /** Jobs that can be taken at once. */
  waiting: number;
  /** Jobs completed or failed since the queue exists. */
  finished: number;
}

/** How far back the rate looks. */
const WINDOW_MS = 10_000;
/** How long jobs must have waited, and how many must have been finished, for it to say anything: a hiccup is no rate. */
const KNOWN_AFTER = { ms: 1000, jobs: 10 };
/** A longer time without a finished job is a stall, which says nothing about the rate before or after it. */
const STALL_MS = 3000;

/** Tells how fast the queue drains while jobs wait: throughput says nothing while none do. */
export class DrainRate {
  /** Looks at which jobs had been finished, oldest first. */
  private moves: Observation[] = [];
  private perMs: number | undefined;
  /** Since when jobs have waited without any of them being finished. */
  private stalledSince: number | undefined;

  observe(look: Observation): void {
    const last = this.moves.at(-1);
    if (look.waiting === 0) {
      this.moves = [look];
      this.perMs = this.stalledSince = undefined;
      return;
    }
    if (look.finished === last?.finished) {
      this.stalledSince ??= look.at;
      return;
    }
    this.stalledSince = look.at;
    const isContinuous = last !== undefined && look.at - last.at < STALL_MS && look.finished > last.finished;
    this.moves = [...(isContinuous ? this.moves : []), look].filter(({ at }) => look.at - at <= WINDOW_MS);
    const [first = look] = this.moves;
    const [ms, jobs] = [look.at - first.at, look.finished - first.finished];
    if (ms >= KNOWN_AFTER.ms && jobs >= KNOWN_AFTER.jobs) this.perMs = jobs / ms;
  }

  /** For how long jobs have waited without any of them being finished, in ms. */
  get stalledMs(): number {
    return this.stalledSince === undefined ? 0 : performance.now() - this.stalledSince;
  }

  /** How long this many jobs take at the last known rate, in ms; undefined while none is known. */
  drainMs(waiting: number): number | undefined {
    return this.perMs === undefined ? undefined : waiting / this.perMs;
  }
}
