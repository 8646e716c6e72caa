/**
 * Finds the first entries of ranges that follow each other in list order. Reads a range only if those before it have too
 * few entries.
 */
export async function findInRanges<Range, Entry>(
  ranges: readonly Range[],
  count: number,
  find: (range: Range, limit: number) => Promise<Entry[]>,
): Promise<Entry[]> {
  const found: Entry[] = [];
  for (const range of ranges) {
    if (found.length < count) found.push(...(await find(range, count - found.length)));
  }
  return found;
}
