/** A client that the process holds memory for. */
export interface MemoryHolder {
  /** Closes the connection, which frees what is held for the client. */
  cutOff(): void;
}

/** What several clients hold together: it is in memory once, and counts once. */
class SharedMemory implements MemoryHolder {
  readonly holders = new Set<MemoryHolder>();

  cutOff(): void {
    for (const holder of this.holders) holder.cutOff();
  }
}

/**
 * Limits the memory that the process holds for clients: incomplete request bodies, requests that wait for earlier ones,
 * and unread responses. Beyond the limit, the client that has held memory the longest is cut off: a prompt client holds
 * memory only for a moment.
 */
export class MemoryBudget {
  /** In the order in which clients began to hold memory. */
  private readonly held = new Map<MemoryHolder, number>();
  private readonly shared = new Map<object, SharedMemory>();
  private total = 0;

  /** @param exceeded called before clients are cut off */
  constructor(
    private readonly maxBytes: number,
    private readonly exceeded: () => void = () => undefined,
  ) {}

  /** Sets how many bytes a client holds. That client may itself be cut off. */
  set(holder: MemoryHolder, bytes: number): void {
    this.put(holder, bytes);
    if (this.total > this.maxBytes) this.exceeded();
    for (const oldest of this.held.keys()) {
      if (this.total <= this.maxBytes) return;
      this.put(oldest, 0);
      oldest.cutOff();
    }
  }

  /** Adds a client to those that hold the same memory. They may be cut off together. */
  share(memory: object, holder: MemoryHolder, bytes: number): void {
    const shared = this.shared.get(memory) ?? new SharedMemory();
    this.shared.set(memory, shared);
    shared.holders.add(holder);
    this.set(shared, Math.max(bytes, this.held.get(shared) ?? 0));
  }

  /** Removes a client from those that hold the same memory, which is released by the last one. */
  leave(memory: object, holder: MemoryHolder): void {
    const shared = this.shared.get(memory);
    if (shared?.holders.delete(holder) !== true || shared.holders.size > 0) return;
    this.shared.delete(memory);
    this.put(shared, 0);
  }

  private put(holder: MemoryHolder, bytes: number): void {
    this.total += bytes - (this.held.get(holder) ?? 0);
    if (bytes > 0) this.held.set(holder, bytes);
    else this.held.delete(holder);
  }
}
