import { heapBytesOf } from '@app/runtime';

/** The size of an item. */
export interface ItemSize {
  /** Bytes of its JSON in UTF-8. */
  bytes: number;
  /** Estimated size as an object, see {@link heapBytesOf}. */
  heapBytes: number;
}

/** Returns the size of a validated create input, or undefined if it is larger than `maxBytes`. */
export function itemSize(input: object, maxBytes: number): ItemSize | undefined {
  // Counted first, because some numbers take long to print. Each value below the item takes at least two bytes: its own
  // and a comma or bracket.
  if (2 * countValues(input) - 1 > maxBytes) return undefined;
  const json = JSON.stringify(input);
  const bytes = Buffer.byteLength(json);
  if (bytes > maxBytes) return undefined;
  return { bytes, heapBytes: heapBytesOf(json) };
}

/** Returns the error message for an item that is too large. */
export function itemTooLarge(maxBytes: number): string {
  return `Item too large: at most ${String(maxBytes)} bytes as JSON`;
}

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, each) => sum + countValues(each), 1);
}
