import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long requests wait at most while connections keep arriving. */
const WAIT_MS = 20;

/**
 * Tells when the connections that have arrived are accepted. Node accepts only one in each turn of the event loop. If it
 * began to handle large requests in between, the next client would wait for as many long turns as there are connections.
 *
 * @see https://github.com/libuv/libuv/pull/3696
 */
export class NewConnections {
  private waiting: Promise<void> | undefined;
  private hasArrived = false;

  /** Counts a connection that has been accepted in this turn. */
  add(): void {
    this.hasArrived = true;
    this.waiting ??= this.wait();
  }

  /** Resolves once a turn has accepted no connection. Undefined if that is so now. */
  get accepted(): Promise<void> | undefined {
    return this.waiting;
  }

  private async wait(): Promise<void> {
    const deadline = performance.now() + WAIT_MS;
    // The end of the turn that has accepted the first one.
    await nextTurn();
    while (this.hasArrived && performance.now() < deadline) {
      this.hasArrived = false;
      await nextTurn();
    }
    this.waiting = undefined;
  }
}
