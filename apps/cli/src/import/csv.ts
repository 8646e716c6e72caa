import { parse } from 'csv-parse/sync';
import { CommandError } from '../command.js';
import { valuesOf } from './csv-cells.js';
import { MAX_LINE_BYTES, type Line } from './lines.js';
import { rejected, wholeLine, type RejectedLine, type SourceLine } from './source-line.js';

const QUOTE = /"/g;

/**
 * Reads CSV as of RFC 4180, its first line the names of the fields. A quoted cell may hold line breaks. Lines that make no
 * record are rejected one at a time: a quote that is never closed costs its own line, not what follows.
 *
 * @throws CommandError when the first line names no fields
 */
export async function* readCsv(lines: AsyncIterable<Line>): AsyncGenerator<SourceLine | RejectedLine> {
  let names: string[] | undefined;
  for await (const group of groups(lines)) {
    let rest = group;
    while (rest.length > 0) {
      const [first, record, others] = nextRecord(rest);
      rest = others;
      if (typeof record === 'string') yield rejected(first, wholeLine(record));
      else if (names === undefined) names = namesIn(record);
      else if (record.length !== names.length) yield rejected(first, wholeLine(lengthFault(names, record)));
      else yield { ...first, value: valuesOf(names, record) };
    }
  }
}

/** Lines up to one that closes all quotes: whole records, as long as no quote is missing. */
async function* groups(lines: AsyncIterable<Line>): AsyncGenerator<Line[]> {
  let group: Line[] = [];
  let length = 0;
  let isOpen = false;
  for await (const line of lines) {
    if (group.length === 0 && line.fault === undefined && line.text === '') continue;
    group.push(line);
    length += line.text.length;
    if (line.fault === undefined && quotesIn(line) % 2 === 1) isOpen = !isOpen;
    if (isOpen && line.fault === undefined && length <= MAX_LINE_BYTES) continue;
    yield group;
    [group, length, isOpen] = [[], 0, false];
  }
  yield group;
}

/** The first record of some lines, with its text, or why its first line makes none; and the lines behind it. */
function nextRecord(lines: Line[]): [first: Pick<Line, 'number' | 'text'>, record: string[] | string, rest: Line[]] {
  const [first = { number: 0, text: '' }, ...others] = lines;
  if (first.fault !== undefined) return [first, first.fault, others];
  let quotes = 0;
  const end = lines.findIndex((line) => (quotes += quotesIn(line)) % 2 === 0);
  const own = end === -1 ? [first] : lines.slice(0, end + 1);
  const text = own.map((line) => line.text).join('\n');
  const record = own.some(({ fault }) => fault !== undefined) ? undefined : parseRecord(text);
  if (record === undefined) return [first, 'Line is not CSV: check its quotes', others];
  return [{ number: first.number, text }, record, lines.slice(own.length)];
}

function parseRecord(text: string): string[] | undefined {
  try {
    const [record, ...more] = parse(text);
    return more.length === 0 ? record : undefined;
  } catch {
    return undefined;
  }
}

function quotesIn({ text }: Line): number {
  return text.match(QUOTE)?.length ?? 0;
}

function namesIn(record: string[]): string[] {
  const names = record.map((name) => name.trim());
  if (new Set(names).size < names.length)
    throw new CommandError('The first line of a CSV file names its fields, each once');
  return names;
}

function lengthFault(names: string[], record: string[]): string {
  return `Line has ${String(record.length)} cells, and the first line ${String(names.length)} names`;
}
