import { createHash } from 'node:crypto';
import { Refusal } from '../orpc/refusal.js';

/** Visible ASCII, so that every proxy hands it on unchanged. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/** The `Idempotency-Key` of a request, or undefined. @throws Refusal BAD_REQUEST when it is malformed */
export function idempotencyKeyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && KEY.test(header)) return header;
  throw new Refusal('BAD_REQUEST', { message: 'Idempotency-Key must be 1 to 255 visible ASCII characters' });
}

/**
 * The id of the item that a caller creates under a key: the same on every instance, for ever, so that
 * MongoDB's own `_id` keeps it from being created twice. As JSON, because callers and keys may hold
 * any separator.
 */
export function itemIdOf(caller: string, key: string): string {
  return createHash('sha256')
    .update(JSON.stringify(['v1', caller, key]))
    .digest('hex')
    .slice(0, 24);
}
