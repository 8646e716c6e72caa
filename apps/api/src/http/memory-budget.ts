/** A client for which the process keeps memory. */
export interface MemoryHolder {
  /** Ends the connection, and with it what is kept for the client. */
  cutOff(): void;
}

/**
 * Bounds the memory that clients make the process keep: bodies that are still being sent, requests that wait for
 * earlier ones, and answers that have not been read. Beyond the bound the client that has held memory for the longest is
 * cut off: prompt clients hold theirs for a moment only.
 */
export class MemoryBudget {
  /** In the order in which they began to hold memory. */
  private readonly held = new Map<MemoryHolder, number>();
  private total = 0;

  /** @param exceeded called before clients are cut off */
  constructor(
    private readonly maxBytes: number,
    private readonly exceeded: () => void = () => undefined,
  ) {}

  /** Sets how many bytes a client holds now; it may be cut off itself. */
  set(holder: MemoryHolder, bytes: number): void {
    this.put(holder, bytes);
    if (this.total > this.maxBytes) this.exceeded();
    for (const oldest of this.held.keys()) {
      if (this.total <= this.maxBytes) return;
      this.put(oldest, 0);
      oldest.cutOff();
    }
  }

  private put(holder: MemoryHolder, bytes: number): void {
    this.total += bytes - (this.held.get(holder) ?? 0);
    if (bytes > 0) this.held.set(holder, bytes);
    else this.held.delete(holder);
  }
}
