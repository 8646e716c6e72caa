/** About how many bytes an object, an array or a member takes. */
const BYTES_PER_STRUCTURE = 64;
const STRUCTURES = ['{', '[', '":'];

/**
 * Estimates the bytes of a JSON text's value on the heap. An empty array takes two bytes of JSON, but more than fifty on
 * the heap.
 */
export function heapBytesOf(json: string): number {
  const structures = STRUCTURES.reduce((sum, mark) => sum + countOf(mark, json), 0);
  return Buffer.byteLength(json) + BYTES_PER_STRUCTURE * structures;
}

function countOf(mark: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) count++;
  return count;
}
