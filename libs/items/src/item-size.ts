/** How much room an item takes. */
export interface ItemSize {
  /** Bytes of its JSON in UTF-8. */
  bytes: number;
  /** Estimate of what it takes as an object: an empty array is two bytes of JSON and over fifty on the heap. */
  heapBytes: number;
}

const BYTES_PER_STRUCTURE = 64;

/** Measures a validated input of create. */
export function itemSize(input: object): ItemSize {
  const json = JSON.stringify(input);
  const bytes = Buffer.byteLength(json);
  return { bytes, heapBytes: bytes + BYTES_PER_STRUCTURE * (countOf('{', json) + countOf('[', json)) };
}

/** Says why an item is refused for its size. */
export function itemTooLarge(maxBytes: number): string {
  return `Item too large: at most ${String(maxBytes)} bytes as JSON`;
}

function countOf(character: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count++;
  return count;
}
