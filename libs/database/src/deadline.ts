/** An operation did not finish in time: MongoDB is unavailable or overloaded. */
export class DatabaseTimeout extends Error {
  override readonly name = 'DatabaseTimeout';
}

/**
 * Settles like the operation, unless the deadline passes first.
 *
 * @param deadline in ms of `performance.now()`
 * @throws DatabaseTimeout at the deadline; the operation itself continues
 */
export function withDeadline<T>(deadline: number, operation: PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => {
        reject(new DatabaseTimeout('no response in time'));
      },
      Math.ceil(deadline - performance.now()),
    );
    Promise.resolve(operation)
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
      });
  });
}
