import { withDeadline } from './deadline.js';

interface Flight<T> {
  current: Promise<T>;
  /** The read that starts when this one ends, for callers that arrived in between, with their latest deadline. */
  next?: { result: Promise<T>; deadline: number };
}

/** Coalesces concurrent reads of the same key. A caller never gets a result older than its request. */
export class SingleFlight<T> {
  private readonly flights = new Map<string, Flight<T>>();

  /**
   * Returns the result of `read`, started by this caller or by another one with the same key.
   *
   * @param deadline in ms of `performance.now()`
   * @param cancelled resolves when this caller no longer wants the result
   * @throws TimeoutError at the deadline or when cancelled, or whatever `read` throws
   */
  load(
    key: string,
    deadline: number,
    read: (deadline: number) => Promise<T>,
    cancelled?: Promise<unknown>,
  ): Promise<T> {
    const flight = this.flights.get(key);
    if (flight === undefined) return withDeadline(deadline, this.begin(key, read(deadline)), cancelled);
    const next = (flight.next ??= { result: this.after(flight, key, read), deadline });
    next.deadline = Math.max(next.deadline, deadline);
    return withDeadline(deadline, next.result, cancelled);
  }

  private async after(flight: Flight<T>, key: string, read: (deadline: number) => Promise<T>): Promise<T> {
    await flight.current.catch(() => undefined);
    return this.begin(key, read(flight.next?.deadline ?? 0));
  }

  private begin(key: string, current: Promise<T>): Promise<T> {
    const flight: Flight<T> = { current };
    this.flights.set(key, flight);
    const end = (): void => {
      if (flight.next === undefined) this.flights.delete(key);
    };
    current.then(end, end);
    return current;
  }
}
