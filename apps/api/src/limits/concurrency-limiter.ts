import type { ApiResponse } from '../http/api-message.js';

/** Limits how many requests of a caller this process handles at the same time. */
export class ConcurrencyLimiter {
  private readonly counts = new Map<string, number>();

  constructor(readonly limit: number) {}

  /** Counts a request until its response is closed. Returns false if it is one too many. */
  enter(caller: string, response: ApiResponse): boolean {
    const count = this.counts.get(caller) ?? 0;
    if (count >= this.limit) return false;
    // A response that is closed already would be counted forever.
    if (response.closed || response.req.socket.destroyed) return true;
    this.counts.set(caller, count + 1);
    response.once('close', () => {
      this.leave(caller);
    });
    return true;
  }

  private leave(caller: string): void {
    const count = (this.counts.get(caller) ?? 0) - 1;
    if (count > 0) this.counts.set(caller, count);
    else this.counts.delete(caller);
  }
}
