/** Lets a report through at most once in `ms`; returns whether it did. */
export function atMostEvery<Args extends unknown[]>(
  ms: number,
  report: (...args: Args) => void,
): (...args: Args) => boolean {
  let againAt = -Infinity;
  return (...args) => {
    const now = performance.now();
    if (now < againAt) return false;
    againAt = now + ms;
    report(...args);
    return true;
  };
}
