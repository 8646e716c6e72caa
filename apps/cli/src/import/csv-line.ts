/** The cells of one line of CSV. */
export interface CsvLine {
  cells: string[];
  /** Whether the last cell is quoted and continues in the next line. */
  isOpen: boolean;
}

const INNER_QUOTE = 'Quote in an unquoted cell: quote the cell, and double the quotes in it';
const TEXT_AFTER_QUOTE = 'Text after a closing quote: double the quotes in a quoted cell';
const CARRIAGE_RETURN = 'Carriage return in an unquoted cell: lines have to end with LF or CRLF';

const DOUBLED_QUOTE = /""/g;

/**
 * Reads one line of CSV (RFC 4180) in linear time. `isOpen` says whether the line begins inside a quoted cell. Returns
 * a reason if the line is not valid CSV.
 *
 * A quote inside an unquoted cell is text, as in `32" TV`. It is rejected if it may have been meant to open or close a
 * cell: after leading spaces, and in a line whose last cell is not closed.
 */
export function readCsvLine(line: string, isOpen: boolean): CsvLine | string {
  const cells: string[] = [];
  let hasInnerQuotes = false;
  for (let start = 0; start <= line.length;) {
    const cell = isOpen && start === 0 ? quotedCell(line, 0) : cellAt(line, start);
    if (typeof cell === 'string') return cell;
    cells.push(cell.text);
    if (cell.isOpen) return hasInnerQuotes ? INNER_QUOTE : { cells, isOpen: true };
    hasInnerQuotes ||= cell.hasInnerQuotes;
    start = cell.end + 1;
  }
  return { cells, isOpen: false };
}

interface Cell {
  text: string;
  /** The index of the comma after the cell, or the length of the line. */
  end: number;
  isOpen: boolean;
  hasInnerQuotes: boolean;
}

function cellAt(line: string, start: number): Cell | string {
  if (line[start] === '"') return quotedCell(line, start + 1);
  const comma = line.indexOf(',', start);
  const end = comma === -1 ? line.length : comma;
  const text = line.slice(start, end);
  if (text.includes('\r')) return CARRIAGE_RETURN;
  if (text.trimStart().startsWith('"')) return INNER_QUOTE;
  return { text, end, isOpen: false, hasInnerQuotes: text.includes('"') };
}

/** Reads the quoted cell whose text begins at `start`, after the opening quote. */
function quotedCell(line: string, start: number): Cell | string {
  const quote = closingQuote(line, start);
  const isOpen = quote === -1;
  const text = line.slice(start, isOpen ? undefined : quote).replace(DOUBLED_QUOTE, '"');
  const end = isOpen ? line.length : quote + 1;
  if (end < line.length && line[end] !== ',') return TEXT_AFTER_QUOTE;
  return { text, end, isOpen, hasInnerQuotes: false };
}

/** Returns the index of the quote that closes a cell, or -1 if there is none. */
function closingQuote(line: string, start: number): number {
  let at = line.indexOf('"', start);
  while (at !== -1 && line[at + 1] === '"') at = line.indexOf('"', at + 2);
  return at;
}
