/** Maximum bytes of a line, which is the default limit for the body of a create. */
export const MAX_LINE_BYTES = 1_048_576;
/** How much of a line that is too long is kept, to identify it. */
const KEPT_BYTES = 1000;

const NEWLINE = 10;

/** A line of the input, numbered from 1. If it cannot be read, `fault` says why, and `text` is only for display. */
export interface Line {
  number: number;
  text: string;
  fault?: string;
}

/** Reads the lines of a UTF-8 stream. Keeps one line in memory, and only the beginning of one that is too long. */
export async function* readLines(input: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  const line = new LineBuffer();
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      line.add(chunk.subarray(start, end));
      yield line.take();
      start = end + 1;
    }
    line.add(chunk.subarray(start));
  }
  if (!line.isEmpty) yield line.take();
}

class LineBuffer {
  private readonly utf8 = new TextDecoder('utf-8', { fatal: true });
  private number = 0;
  private parts: Buffer[] = [];
  private bytes = 0;

  get isEmpty(): boolean {
    return this.bytes === 0;
  }

  add(part: Buffer): void {
    this.bytes += part.length;
    if (this.bytes <= MAX_LINE_BYTES) this.parts.push(part);
    else this.parts = [Buffer.concat([...this.parts, part]).subarray(0, KEPT_BYTES)];
  }

  take(): Line {
    const [first = Buffer.alloc(0)] = this.parts;
    const whole = this.parts.length > 1 ? Buffer.concat(this.parts) : first;
    const isTooLong = this.bytes > MAX_LINE_BYTES;
    this.number += 1;
    this.parts = [];
    this.bytes = 0;
    const shown = { number: this.number, text: whole.toString() };
    if (isTooLong) return { ...shown, fault: `Line is too long: at most ${String(MAX_LINE_BYTES)} bytes` };
    try {
      return { number: this.number, text: this.utf8.decode(whole).replace(/\r$/, '') };
    } catch {
      return { ...shown, fault: 'Line is not valid UTF-8' };
    }
  }
}
