import { CommandError } from '../command.js';
import { valuesOf } from './csv-cells.js';
import { readCsvLine } from './csv-line.js';
import { MAX_LINE_BYTES, type Line } from './lines.js';
import { rejected, wholeLine, type RejectedLine, type SourceLine } from './source-line.js';

/** Maximum characters of a record, including a line break after each of its lines. */
const MAX_RECORD_LENGTH = MAX_LINE_BYTES + 1;

/**
 * Reads CSV (RFC 4180) whose first line names the fields. A quoted cell may contain line breaks. If lines do not form a
 * record, the first one is rejected and the others are read again, so that a quote that is never closed costs only its
 * own line.
 *
 * No line is read more than twice. A line that leaves a quoted cell open has an odd number of quotes. A line inside
 * such a cell has an even number, so it opens none when it is read again.
 *
 * @throws CommandError if the first line does not name the fields
 */
export async function* readCsv(lines: AsyncIterable<Line>): AsyncGenerator<SourceLine | RejectedLine> {
  const reader = new RecordReader();
  // Not `yield*`, which would cost several promises for each line.
  for await (const line of lines) for (const read of reader.add(line)) yield read;
  yield* reader.end();
}

class RecordReader {
  private names: string[] | undefined;
  private record = new CsvRecord();

  *add(line: Line): Generator<SourceLine | RejectedLine> {
    if (!this.record.isOpen && isBlank(line)) return;
    const reason = this.record.add(line) ?? this.lengthFault();
    if (reason !== undefined) yield* this.reject(reason);
    else if (!this.record.isOpen) yield* this.complete();
  }

  *end(): Generator<SourceLine | RejectedLine> {
    while (this.record.isOpen) yield* this.reject('Quoted cell is never closed');
  }

  private lengthFault(): string | undefined {
    const { record, names } = this;
    if (names === undefined || record.isOpen || record.cells.length === names.length) return undefined;
    return `Record has ${String(record.cells.length)} cells, and the first line ${String(names.length)} names`;
  }

  private *complete(): Generator<SourceLine> {
    const { cells, number, text } = this.record;
    this.record = new CsvRecord();
    if (this.names === undefined) this.names = namesIn(cells);
    else yield { number, text, value: valuesOf(this.names, cells) };
  }

  private *reject(reason: string): Generator<SourceLine | RejectedLine> {
    if (this.names === undefined) throw new CommandError(`The first line of a CSV file names its fields: ${reason}`);
    const { lines } = this.record;
    this.record = new CsvRecord();
    const last = String(lines.at(-1)?.number);
    const whole = lines.length > 1 ? `Quoted cell continues to line ${last}: ${reason}` : reason;
    for (const [index, line] of lines.entries()) {
      if (index === 0) yield rejected(line, wholeLine(whole));
      else yield* this.add(line);
    }
  }
}

/** A record, or the beginning of one. */
class CsvRecord {
  readonly lines: Line[] = [];
  readonly cells: string[] = [];
  /** Whether the last cell continues in the next line. */
  isOpen = false;
  private length = 0;

  get number(): number {
    return this.lines[0]?.number ?? 0;
  }

  get text(): string {
    return this.lines.map(({ text }) => text).join('\n');
  }

  /** Adds a line. Returns a reason if the lines, including this one, do not form a record. */
  add(line: Line): string | undefined {
    this.lines.push(line);
    this.length += line.text.length + 1;
    if (line.fault !== undefined) return line.fault;
    if (this.length > MAX_RECORD_LENGTH) return `Record is too long: at most ${String(MAX_LINE_BYTES)} characters`;
    const read = readCsvLine(withoutReturn(line.text), this.isOpen);
    if (typeof read === 'string') return read;
    const begun = this.isOpen ? `${this.cells.pop() ?? ''}\n` : '';
    for (const [index, cell] of read.cells.entries()) this.cells.push(index === 0 ? begun + cell : cell);
    this.isOpen = read.isOpen;
    return undefined;
  }
}

function isBlank({ text, fault }: Line): boolean {
  return fault === undefined && withoutReturn(text) === '';
}

/** Some programs end lines with CR CR LF. */
function withoutReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}

function namesIn(cells: string[]): string[] {
  const names = cells.map((name) => name.trim());
  if (new Set(names).size < names.length)
    throw new CommandError('The first line of a CSV file names its fields, each once');
  return names;
}
