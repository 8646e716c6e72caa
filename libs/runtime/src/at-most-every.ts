/** Returns a function that calls `report` at most once every `ms`, and returns whether it did. */
export function atMostEvery<Args extends unknown[]>(
  ms: number,
  report: (...args: Args) => void,
): (...args: Args) => boolean {
  let nextAt = -Infinity;
  return (...args) => {
    const now = performance.now();
    if (now < nextAt) return false;
    nextAt = now + ms;
    report(...args);
    return true;
  };
}
