/** 2^53 − 1 has 16 digits: numbers with fewer characters are always exact. */
const MAY_BE_INEXACT = /\d{16}/;
const WHOLE_NUMBER = /^\d+$/;
const LARGEST_EXACT = String(Number.MAX_SAFE_INTEGER);

/**
 * The most that a body may hold: objects, arrays and members of objects, and values of any kind. Reading a hundred bytes
 * of text takes as long as reading one of the former or five of the latter.
 */
export const MAX_JSON = { structures: 25_000, values: 150_000 };

/** Whether a text of JSON holds more than {@link MAX_JSON}; does not parse it. */
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
 * Parses JSON like `JSON.parse`, but a whole-number literal beyond ±(2^53 − 1) becomes infinite
 * instead of a neighbour of what was sent. Every schema refuses `Infinity`, with the field's path,
 * and so do numbers that overflow (`1e400`), which `JSON.parse` itself makes `Infinity`.
 *
 * @throws SyntaxError when the text is not JSON
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const exact = MAY_BE_INEXACT.test(text) ? overflowInexact(text) : text;
  return exact === text ? value : JSON.parse(exact);
}

/** By hand, because a regular expression calls back at every quote and escape. */
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

/** The place of the quote that ends the string that begins here, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charAt(end - 1 - backslashes) === '\\') backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/** The place after the last of the characters `0-9 . + - e E`. */
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
