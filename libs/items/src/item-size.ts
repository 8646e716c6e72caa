/** Returns the size of an item: bytes of its validated input as JSON in UTF-8. */
export function itemBytes(input: object): number {
  return Buffer.byteLength(JSON.stringify(input));
}

/** Says why an item is refused for its size. */
export function itemTooLarge(maxBytes: number): string {
  return `Item too large: at most ${String(maxBytes)} bytes as JSON`;
}
