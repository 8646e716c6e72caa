/** Returns whether a job is not JSON, or JSON of an unexpected form or depth. Redis throws errors of other types. */
export function isUnreadable(error: unknown): boolean {
  return [SyntaxError, TypeError, RangeError].some((type) => error instanceof type);
}
