const MIN_CAPACITY = 4096;
const EMPTY = Buffer.alloc(0);

/**
 * Collects bytes that arrive in pieces, in at most twice their memory or {@link MIN_CAPACITY}. Node holds far more memory
 * for a small piece than its size.
 */
export class GrowingBuffer {
  length = 0;
  private bytes: Buffer = EMPTY;

  /** @param expected the number of bytes that will arrive, if known: no memory is held beyond it */
  constructor(private readonly expected = Infinity) {}

  /** How many bytes of memory it holds. */
  get capacity(): number {
    return this.bytes.length;
  }

  append(piece: Buffer): void {
    const length = this.length + piece.length;
    // Most bodies arrive in one piece, and are never copied.
    if (this.length === 0) this.bytes = piece;
    else {
      if (length > this.capacity) this.grow(length);
      piece.copy(this.bytes, this.length);
    }
    this.length = length;
  }

  /** Returns what was appended, and keeps nothing of it. */
  take(): Buffer {
    const bytes = this.bytes.subarray(0, this.length);
    this.bytes = EMPTY;
    this.length = 0;
    return bytes;
  }

  private grow(length: number): void {
    // Not from Node's pool, because a slice would keep the whole pool in memory.
    const bytes = Buffer.allocUnsafeSlow(Math.max(length, Math.min(this.expected, Math.max(MIN_CAPACITY, 2 * length))));
    this.bytes.copy(bytes, 0, 0, this.length);
    this.bytes = bytes;
  }
}
