/** Resolves to the value of a promise, or to undefined if it rejects, `ms` pass, or `cancelled` resolves first. */
export function settledWithin<T>(
  ms: number,
  promise: Promise<T>,
  cancelled?: Promise<unknown>,
): Promise<T | undefined> {
  return new Promise((resolve) => {
    const end = (result: T | undefined): void => {
      clearTimeout(timer);
      resolve(result);
    };
    const giveUp = (): void => {
      end(undefined);
    };
    const timer = setTimeout(giveUp, Math.max(0, ms));
    void cancelled?.then(giveUp);
    promise.then(end, giveUp);
  });
}

/** Like {@link settledWithin}, but with a deadline in ms of `performance.now()`. */
export function settledBy<T>(
  deadline: number,
  promise: Promise<T>,
  cancelled?: Promise<unknown>,
): Promise<T | undefined> {
  return settledWithin(deadline - performance.now(), promise, cancelled);
}
