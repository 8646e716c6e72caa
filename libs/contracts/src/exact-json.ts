/** What tells digits that are a number from digits inside a string: escapes, quotes, numbers. */
const ESCAPE_QUOTE_OR_NUMBER = /\\.|"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const WHOLE_NUMBER = /^-?\d+$/;
/** 2^53 − 1 has 16 digits: shorter runs of digits are always exact. */
const MAY_BE_INEXACT = /\d{16}/;

/**
 * Parses JSON like `JSON.parse`, but a whole-number literal beyond ±(2^53 − 1) becomes `Infinity`
 * instead of a neighbour of what was sent. Every schema refuses `Infinity`, with the field's path,
 * and so do numbers that overflow (`1e400`), which `JSON.parse` itself makes `Infinity`.
 *
 * @throws SyntaxError when the text is not JSON
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return MAY_BE_INEXACT.test(text) ? JSON.parse(overflowInexact(text)) : value;
}

/** A pattern for a whole string would need a stack as deep as a long string: the quotes are counted instead. */
function overflowInexact(text: string): string {
  let isInString = false;
  return text.replace(ESCAPE_QUOTE_OR_NUMBER, (token) => {
    if (token === '"') isInString = !isInString;
    return isInString || !isInexact(token) ? token : '1e999';
  });
}

function isInexact(token: string): boolean {
  return WHOLE_NUMBER.test(token) && !Number.isSafeInteger(Number(token));
}
