/** An operation did not finish in time. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

const TIMED_OUT = Symbol('timed out');

/**
 * Settles like the operation, unless `ms` pass or `cancelled` resolves first.
 *
 * @throws TimeoutError after that time or when cancelled; the operation itself continues
 */
export async function withTimeout<T>(ms: number, operation: PromiseLike<T>, cancelled?: Promise<unknown>): Promise<T> {
  const result = await settledOrTimedOut(ms, operation, cancelled);
  if (result === TIMED_OUT) throw new TimeoutError('no result in time');
  return result;
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
  return settledOrTimedOut(ms, operation, cancelled).then(
    (result) => (result === TIMED_OUT ? undefined : result),
    () => undefined,
  );
}

/** Like {@link withDeadline}, but resolves to undefined instead of rejecting. */
export function settledBy<T>(
  deadline: number,
  operation: PromiseLike<T>,
  cancelled?: Promise<unknown>,
): Promise<T | undefined> {
  return settledWithin(Math.ceil(deadline - performance.now()), operation, cancelled);
}

/** Settles like the operation, or resolves to {@link TIMED_OUT} after that time or when cancelled. */
function settledOrTimedOut<T>(
  ms: number,
  operation: PromiseLike<T>,
  cancelled: Promise<unknown> | undefined,
): Promise<T | typeof TIMED_OUT> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      clearTimeout(timer);
      resolve(TIMED_OUT);
    };
    const timer = setTimeout(giveUp, Math.max(0, ms));
    void cancelled?.then(giveUp);
    Promise.resolve(operation)
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
      });
  });
}
