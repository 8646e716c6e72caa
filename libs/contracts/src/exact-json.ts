/** 2^53 − 1 has 16 digits. Whole numbers with fewer digits are always exact. */
const MAY_BE_INEXACT = /\d{16}/;
const WHOLE_NUMBER = /^\d+$/;
const LARGEST_EXACT = String(Number.MAX_SAFE_INTEGER);

/**
 * The most that a body may contain: structures (objects, arrays and members of objects), and values of any kind. These
 * take much longer to parse than the same number of bytes in a string, and structures longer than other values.
 */
export const MAX_JSON = { structures: 25_000, values: 150_000 };

/** Returns whether a JSON text contains more than {@link MAX_JSON}. Does not parse it. */
export function isTooComplex(text: string): boolean {
  if (text.length <= MAX_JSON.structures) return false;
  let structures = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') at = endOfString(text, at);
    else if (character === ',') values++;
    else if (character === '[' || character === '{' || character === ':') structures++;
    if (structures > MAX_JSON.structures || values > MAX_JSON.values) return true;
  }
  return false;
}

/**
 * Parses JSON like `JSON.parse`, except that a whole-number literal beyond ±(2^53 − 1) becomes infinite instead of
 * being rounded. Numbers that overflow (`1e400`) become infinite in `JSON.parse` itself. Every schema rejects infinite
 * numbers, with the path of the field.
 *
 * @throws SyntaxError if the text is not JSON
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const exact = MAY_BE_INEXACT.test(text) ? overflowInexact(text) : text;
  return exact === text ? value : JSON.parse(exact);
}

/** A loop, because a regular expression would have to call back for every quote and escape. */
function overflowInexact(text: string): string {
  let overflowed = '';
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') at = endOfString(text, at);
    else if (character >= '0' && character <= '9') {
      const end = endOfNumber(text, at);
      if (end - at >= LARGEST_EXACT.length && isInexact(text.slice(at, end))) {
        overflowed += `${text.slice(copied, at)}1e999`;
        copied = end;
      }
      at = end - 1;
    }
  }
  return overflowed + text.slice(copied);
}

/** Returns the index of the quote that ends the string which begins at `start`, or the length of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charAt(end - 1 - backslashes) === '\\') backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/** Returns the index after the last of the characters `0-9 . + - e E`. */
function endOfNumber(text: string, start: number): number {
  for (let end = start; ; end++) {
    const code = text.charCodeAt(end);
    const isPart = (code >= 0x2b && code <= 0x39 && code !== 0x2c) || (code | 0x20) === 0x65;
    if (!isPart) return end;
  }
}

function isInexact(number: string): boolean {
  if (!WHOLE_NUMBER.test(number)) return false;
  return number.length > LARGEST_EXACT.length || number > LARGEST_EXACT;
}
