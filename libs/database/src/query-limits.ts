import { TimeoutError } from '@app/runtime';

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
