import { isTooComplex, MAX_JSON, parseExactJson } from '@app/contracts';
import type { Line } from './lines.js';
import { rejected, wholeLine, type RejectedLine, type SourceLine } from './source-line.js';

const TOO_COMPLEX = wholeLine(
  `Line holds too much: at most ${String(MAX_JSON.structures)} objects, arrays and members, and ${String(MAX_JSON.values)} values`,
);

/** Reads each line as JSON, and skips blank lines. */
export async function* readNdjson(lines: AsyncIterable<Line>): AsyncGenerator<SourceLine | RejectedLine> {
  for await (const line of lines) {
    if (line.fault === undefined && line.text.trim() === '') continue;
    yield line.fault === undefined ? parse(line) : rejected(line, wholeLine(line.fault));
  }
}

function parse({ number, text }: Line): SourceLine | RejectedLine {
  if (isTooComplex(text)) return rejected({ number, text }, TOO_COMPLEX);
  try {
    return { number, text, value: parseExactJson(text) };
  } catch {
    return rejected({ number, text }, wholeLine('Line is not JSON'));
  }
}
