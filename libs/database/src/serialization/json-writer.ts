import { isUtf8 } from 'node:buffer';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;
const MAX_NUMBER_LENGTH = 32;
const MAX_INT32 = 0x7fffffff;
const MAX_LOOP_BYTES = 100;

/** Writes JSON in UTF-8 to a buffer that grows as needed. */
export class JsonWriter {
  private buffer: Buffer;
  private length = 0;

  constructor(size: number) {
    this.buffer = Buffer.allocUnsafe(size);
  }

  /** Returns everything that has been written. */
  toBytes(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  /** Returns whether everything written since a position is valid UTF-8, which MongoDB does not check. */
  isUtf8Since(position: number): boolean {
    return isUtf8(this.buffer.subarray(position, this.length));
  }

  get position(): number {
    return this.length;
  }

  /** Discards everything written since a position. */
  rewind(position: number): void {
    this.length = position;
  }

  byte(byte: number): void {
    this.makeRoom(1);
    this.buffer[this.length++] = byte;
  }

  /** Copies bytes. For a few of them, a loop is faster than `TypedArray.prototype.set()`. */
  bytes(bytes: Uint8Array): void {
    this.makeRoom(bytes.length);
    if (bytes.length > MAX_LOOP_BYTES) this.buffer.set(bytes, this.length);
    else for (let at = 0; at < bytes.length; at++) this.buffer[this.length + at] = bytes[at] ?? 0;
    this.length += bytes.length;
  }

  /** Writes a number as `JSON.stringify` does: `null` if it is not finite. */
  number(value: number): void {
    this.makeRoom(MAX_NUMBER_LENGTH);
    if (Number.isInteger(value) && value >= 0 && value <= MAX_INT32 && !Object.is(value, -0)) {
      this.digits(value);
      return;
    }
    this.length += this.buffer.write(Number.isFinite(value) ? String(value) : 'null', this.length, 'latin1');
  }

  private digits(value: number): void {
    let end = this.length + 1;
    for (let rest = value; rest >= 10; rest = (rest / 10) | 0) end++;
    this.length = end;
    let rest = value;
    do {
      this.buffer[--end] = 0x30 + (rest % 10);
      rest = (rest / 10) | 0;
    } while (rest > 0);
  }

  /** Writes an ASCII string that needs no escaping. */
  plainString(text: string): void {
    this.makeRoom(text.length + 2);
    this.buffer[this.length++] = QUOTE;
    this.length += this.buffer.write(text, this.length, 'latin1');
    this.buffer[this.length++] = QUOTE;
  }

  /** Writes the UTF-8 string from `start` to `end` of `source`. */
  string(source: Buffer, start: number, end: number): void {
    this.makeRoom(end - start + 2);
    const isWritten = end - start > MAX_LOOP_BYTES ? this.longText(source, start, end) : this.text(source, start, end);
    if (!isWritten) this.bytes(Buffer.from(JSON.stringify(source.toString('utf8', start, end))));
  }

  /** Returns false, and writes nothing, if JSON escapes any of the bytes. */
  private text(source: Buffer, start: number, end: number): boolean {
    const { buffer } = this;
    let to = this.length;
    buffer[to++] = QUOTE;
    for (let at = start; at < end; at++) {
      const byte = source[at] ?? 0;
      if (byte === QUOTE || byte === BACKSLASH || byte < FIRST_PRINTABLE) return false;
      buffer[to++] = byte;
    }
    buffer[to++] = QUOTE;
    this.length = to;
    return true;
  }

  /** Does the same as `text`, but tests four bytes at a time. */
  private longText(source: Buffer, start: number, end: number): boolean {
    const view = new DataView(source.buffer, source.byteOffset);
    for (let at = start; at + 4 <= end; at += 4) if (isAnyEscaped(view.getInt32(at, true))) return false;
    if (isAnyEscaped(view.getInt32(end - 4, true))) return false;
    this.byte(QUOTE);
    this.bytes(source.subarray(start, end));
    this.byte(QUOTE);
    return true;
  }

  private makeRoom(more: number): void {
    if (this.length + more <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.length + more));
    this.buffer.copy(larger, 0, 0, this.length);
    this.buffer = larger;
  }
}

/** Returns whether JSON escapes any of four bytes (https://graphics.stanford.edu/~seander/bithacks.html#HasLessInWord). */
function isAnyEscaped(word: number): boolean {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  const found =
    ((word - 0x20202020) & ~word) | ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes);
  return (found & 0x80808080) !== 0;
}
