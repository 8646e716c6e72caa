/** Beyond this many waiting requests, or bytes of their items on the heap, the process refuses creates. */
const MAX_REQUESTS = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;

interface Load {
  requests: number;
  bytes: number;
}

/** Limits the creates that wait in this process. */
export class WaitingLimits {
  private readonly total: Load = { requests: 0, bytes: 0 };
  /** The load of each seller that has creates waiting. */
  private readonly sellers = new Map<string, Load>();

  /** @param hasFairShares whether a seller may have at most as much waiting as there is still room for */
  constructor(private readonly hasFairShares: boolean) {}

  /** Counts a request with an item of this many bytes, or returns which limit it exceeds. */
  enter(sellerId: string, bytes: number): 'process' | 'seller' | undefined {
    const own = this.sellers.get(sellerId) ?? { requests: 0, bytes: 0 };
    const room = { requests: MAX_REQUESTS - this.total.requests, bytes: MAX_BYTES - this.total.bytes };
    if (room.requests < 1 || room.bytes < bytes) return 'process';
    const isBeyondShare = own.requests + 1 > room.requests || own.bytes + bytes > room.bytes;
    if (this.hasFairShares && isBeyondShare) return 'seller';
    this.sellers.set(sellerId, own);
    add(this.total, 1, bytes);
    add(own, 1, bytes);
    return undefined;
  }

  leave(sellerId: string, bytes: number): void {
    const own = this.sellers.get(sellerId);
    if (own === undefined) return;
    add(this.total, -1, -bytes);
    add(own, -1, -bytes);
    if (own.requests === 0) this.sellers.delete(sellerId);
  }
}

function add(load: Load, requests: number, bytes: number): void {
  load.requests += requests;
  load.bytes += bytes;
}
