/** A burst of creates, and the workers that store it. Rates are per second. */
export interface Burst {
  items: number;
  workers: number;
  /** What one worker stores while jobs wait. */
  workerRate: number;
  /** How fast the creates arrive. Without it, all arrive at once. */
  arrivalRate?: number | undefined;
  /** The most jobs in one batch, `WORKER_CONCURRENCY`. */
  concurrency?: number | undefined;
}

/** How a burst is stored. Times are in seconds since its first create. */
export interface Drain {
  /** When the last item is stored. */
  seconds: number;
  /** The longest time from the arrival of a create until its item is stored. */
  longestWaitS: number;
  /** The most jobs that wait in the queue for a worker. */
  mostWaiting: number;
  /** The items stored so far, after each batch. */
  timeline: [seconds: number, stored: number][];
}

const DEFAULT_CONCURRENCY = 128;
/** The most workers that are tried. */
const MAX_WORKERS = 1000;
/** Two times that are this close are the same, apart from rounding. */
const PRECISION_S = 1e-9;

/** Returns the seconds in which a burst is stored by the formula: as fast as it arrives, or as all workers store. */
export function drainSecondsByFormula({ items, workers, workerRate, arrivalRate = Infinity }: Burst): number {
  return items / Math.min(arrivalRate, workers * workerRate);
}

/** Returns the most batches in which a burst can be stored. Simulating it takes time in proportion to them. */
export function mostBatches({ items, arrivalRate, concurrency = DEFAULT_CONCURRENCY }: Omit<Burst, 'workers'>): number {
  // Workers that are faster than the creates arrive take them one by one.
  return arrivalRate === undefined ? Math.ceil(items / concurrency) : items;
}

/** Simulates workers that each take all waiting jobs as a batch, up to `concurrency`, and store it at `workerRate`. */
export function simulateBurst(burst: Burst): Drain {
  const { items, workers, workerRate, arrivalRate = Infinity, concurrency = DEFAULT_CONCURRENCY } = burst;
  const freeAt = Array.from({ length: workers }, () => 0);
  const batches: [storedAt: number, jobs: number][] = [];
  let [taken, mostWaiting, longestWaitS] = [0, 0, 0];
  while (taken < items) {
    const worker = indexOfLeast(freeAt);
    const oldestArrivedAt = taken / arrivalRate;
    const now = Math.max(freeAt[worker] ?? 0, oldestArrivedAt);
    // The oldest has arrived, even if rounding says otherwise.
    const waiting = Math.max(1, arrivedBy(now, items, arrivalRate) - taken);
    const jobs = Math.min(waiting, concurrency);
    const storedAt = now + jobs / workerRate;
    mostWaiting = Math.max(mostWaiting, waiting);
    longestWaitS = Math.max(longestWaitS, storedAt - oldestArrivedAt);
    batches.push([storedAt, jobs]);
    freeAt[worker] = storedAt;
    taken += jobs;
  }
  return { seconds: Math.max(...freeAt), longestWaitS, mostWaiting, timeline: timelineOf(batches) };
}

/** Returns the least number of workers that stores a burst in time, or undefined if no number up to 1,000 does. */
export function workersFor(burst: Omit<Burst, 'workers'>, seconds: number): number | undefined {
  const isInTime = (workers: number): boolean => simulateBurst({ ...burst, workers }).seconds <= seconds + PRECISION_S;
  if (!isInTime(MAX_WORKERS)) return undefined;
  let workers = Math.max(1, Math.floor(burst.items / (burst.workerRate * seconds)));
  while (!isInTime(workers)) workers++;
  return workers;
}

/** Returns how many creates have arrived at a time. The first arrives at 0. */
function arrivedBy(time: number, items: number, arrivalRate: number): number {
  if (arrivalRate === Infinity) return items;
  return Math.min(items, Math.floor((time + PRECISION_S) * arrivalRate) + 1);
}

function indexOfLeast(values: readonly number[]): number {
  return values.indexOf(Math.min(...values));
}

function timelineOf(batches: [storedAt: number, jobs: number][]): Drain['timeline'] {
  let stored = 0;
  return batches.sort(([a], [b]) => a - b).map(([storedAt, jobs]) => [storedAt, (stored += jobs)]);
}
