/** An operation did not finish in time. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * Settles like the operation, unless `ms` pass or `cancelled` resolves first.
 *
 * @throws TimeoutError after that time or when cancelled; the operation itself continues
 */
export function withTimeout<T>(ms: number, operation: PromiseLike<T>, cancelled?: Promise<unknown>): Promise<T> {
  return new Promise((resolve, reject) => {
    let isSettled = false;
    const giveUp = (): void => {
      clearTimeout(timer);
      // A new error captures the stack, which takes time.
      if (!isSettled) reject(new TimeoutError('no result in time'));
    };
    const timer = setTimeout(giveUp, Math.max(0, ms));
    void cancelled?.then(giveUp);
    Promise.resolve(operation)
      .then(resolve, reject)
      .finally(() => {
        isSettled = true;
        clearTimeout(timer);
      });
  });
}

/** Like {@link withTimeout}, but with a deadline in ms of `performance.now()`. */
export function withDeadline<T>(deadline: number, operation: PromiseLike<T>, cancelled?: Promise<unknown>): Promise<T> {
  return withTimeout(Math.ceil(deadline - performance.now()), operation, cancelled);
}

/** Like {@link withTimeout}, but resolves to undefined instead of rejecting. */
export function settledWithin<T>(
  ms: number,
  operation: PromiseLike<T>,
  cancelled?: Promise<unknown>,
): Promise<T | undefined> {
  return withTimeout(ms, operation, cancelled).catch(() => undefined);
}

/** Like {@link withDeadline}, but resolves to undefined instead of rejecting. */
export function settledBy<T>(
  deadline: number,
  operation: PromiseLike<T>,
  cancelled?: Promise<unknown>,
): Promise<T | undefined> {
  return withDeadline(deadline, operation, cancelled).catch(() => undefined);
}
