import { createHmac } from 'node:crypto';

/**
 * Returns the id of the item that a caller creates under a key. It is the same on every instance, forever, so that
 * MongoDB's unique `_id` prevents a second item. Without the secret nobody can compute it, so nobody can read or claim
 * the item of a key that is easy to guess. The input is hashed as JSON, because callers and keys may contain any
 * separator.
 */
export function itemIdForKey(secret: string, caller: string, key: string): string {
  return createHmac('sha256', secret)
    .update(JSON.stringify(['v2', caller, key]))
    .digest('hex')
    .slice(0, 24);
}
