import { isUtf8 } from 'node:buffer';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;
const LONGEST_NUMBER = 32;
const FEW = 64;

/** Writes JSON in UTF-8 into one buffer that grows. */
export class JsonWriter {
  private buffer: Buffer;
  private length = 0;

  constructor(size: number) {
    this.buffer = Buffer.allocUnsafe(size);
  }

  /** What has been written. */
  toBytes(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  /** Whether what was written since then is UTF-8: MongoDB does not check strings. */
  isUtf8Since(position: number): boolean {
    return isUtf8(this.buffer.subarray(position, this.length));
  }

  get position(): number {
    return this.length;
  }

  /** Forgets what was written since then. */
  rewind(position: number): void {
    this.length = position;
  }

  byte(byte: number): void {
    this.makeRoom(1);
    this.buffer[this.length++] = byte;
  }

  /** Copies bytes: one by one, which for a few is faster than a call of Node's. */
  bytes(bytes: Uint8Array): void {
    this.makeRoom(bytes.length);
    if (bytes.length > FEW) this.buffer.set(bytes, this.length);
    else for (let at = 0; at < bytes.length; at++) this.buffer[this.length + at] = bytes[at] ?? 0;
    this.length += bytes.length;
  }

  /** As JSON has it: what is not finite is null. */
  number(value: number): void {
    this.makeRoom(LONGEST_NUMBER);
    this.length += this.buffer.write(Number.isFinite(value) ? String(value) : 'null', this.length, 'latin1');
  }

  /** A string of which nothing has to be escaped, and all of which is ASCII. */
  plainString(text: string): void {
    this.makeRoom(text.length + 2);
    this.buffer[this.length++] = QUOTE;
    this.length += this.buffer.write(text, this.length, 'latin1');
    this.buffer[this.length++] = QUOTE;
  }

  /** A string that is there in UTF-8, from `start` to `end`. */
  string(source: Buffer, start: number, end: number): void {
    this.makeRoom(end - start + 2);
    const { buffer } = this;
    let to = this.length;
    buffer[to++] = QUOTE;
    for (let at = start; at < end; at++) {
      const byte = source[at] ?? 0;
      if (byte === QUOTE || byte === BACKSLASH || byte < FIRST_PRINTABLE) {
        this.bytes(Buffer.from(JSON.stringify(source.toString('utf8', start, end))));
        return;
      }
      buffer[to++] = byte;
    }
    buffer[to++] = QUOTE;
    this.length = to;
  }

  private makeRoom(more: number): void {
    if (this.length + more <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.length + more));
    this.buffer.copy(larger, 0, 0, this.length);
    this.buffer = larger;
  }
}
