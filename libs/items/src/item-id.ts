import { createHmac } from 'node:crypto';

/**
 * Returns the id of the item that a caller creates under a key: the same on every instance, for ever, so that
 * MongoDB's own `_id` keeps it from being created twice. Nobody can compute it without the secret, and so neither read
 * nor take the item of a key that is easy to guess. As JSON, because callers and keys may hold any separator.
 */
export function itemIdForKey(secret: string, caller: string, key: string): string {
  return createHmac('sha256', secret)
    .update(JSON.stringify(['v2', caller, key]))
    .digest('hex')
    .slice(0, 24);
}
