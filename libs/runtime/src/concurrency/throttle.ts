/** How often the same kind of problem is reported. */
const REPORT_EVERY_MS = 5000;

/** Returns a function that calls `report` at most once every `everyMs`, and returns whether it did. */
export function throttle<Args extends unknown[]>(
  report: (...args: Args) => void,
  everyMs = REPORT_EVERY_MS,
): (...args: Args) => boolean {
  let nextAt = -Infinity;
  return (...args) => {
    const now = performance.now();
    if (now < nextAt) return false;
    nextAt = now + everyMs;
    report(...args);
    return true;
  };
}
