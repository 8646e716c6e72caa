import { TimeoutError } from '@app/runtime';
import type { mongo } from 'mongoose';

/** Options of one query. */
export interface QueryLimits {
  maxTimeMS: number;
}

/** The share of the remaining time after which MongoDB aborts a query, so that its error arrives in time. */
const QUERY_SHARE = 0.9;

/**
 * Returns the limits of a query that is about to start.
 *
 * @param deadline in ms of `performance.now()`
 * @throws TimeoutError after the deadline
 */
export function limitsUntil(deadline: number): QueryLimits {
  const left = deadline - performance.now();
  if (left <= 0) throw new TimeoutError('no time left for a query');
  return { maxTimeMS: Math.ceil(left * QUERY_SHARE) };
}

/**
 * Returns everything that a query of the driver finds. Fetches no batch after the deadline.
 *
 * @param deadline in ms of `performance.now()`
 * @param check is called for each document, and may throw to end the read
 * @throws TimeoutError after the deadline
 */
export async function readUntil<T>(
  deadline: number,
  query: (limits: QueryLimits) => mongo.AbstractCursor<T>,
  check: (document: T) => void = () => undefined,
): Promise<T[]> {
  const cursor = query(limitsUntil(deadline));
  const found: T[] = [];
  // An error in this loop closes the cursor.
  for await (const document of cursor) {
    for (const read of [document, ...cursor.readBufferedDocuments()]) {
      check(read);
      found.push(read);
    }
    if (performance.now() > deadline) throw new TimeoutError('no time left for a batch');
  }
  return found;
}
