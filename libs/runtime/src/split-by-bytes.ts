/**
 * Splits a list into parts of at most `maxBytes` each, in order. An element that is larger becomes a part of its own.
 *
 * @param sizeOf returns the bytes of an element
 */
export function splitByBytes<T>(elements: readonly T[], sizeOf: (element: T) => number, maxBytes: number): T[][] {
  const parts: T[][] = [];
  let room = 0;
  for (const element of elements) {
    const bytes = sizeOf(element);
    const part = parts.at(-1);
    room -= bytes;
    if (part !== undefined && room >= 0) part.push(element);
    else {
      parts.push([element]);
      room = maxBytes - bytes;
    }
  }
  return parts;
}
