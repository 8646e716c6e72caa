/** A read did not end in time: MongoDB is away or overloaded. */
export class DatabaseTimeout extends Error {
  override readonly name = 'DatabaseTimeout';
}

/**
 * Settles as the operation does, unless the deadline passes first.
 *
 * @param deadline in ms of `performance.now()`
 * @throws DatabaseTimeout at the deadline; the operation itself goes on
 */
export function before<T>(deadline: number, operation: PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => {
        reject(new DatabaseTimeout('no answer in time'));
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
