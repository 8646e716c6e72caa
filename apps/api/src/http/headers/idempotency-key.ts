import { ApiError } from '../api-error.js';

/** Visible ASCII, which every proxy forwards unchanged. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/** Returns the `Idempotency-Key` of a request, or undefined. @throws ApiError BAD_REQUEST if it is malformed */
export function idempotencyKeyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && KEY.test(header)) return header;
  throw new ApiError('BAD_REQUEST', { message: 'Idempotency-Key must be 1 to 255 visible ASCII characters' });
}
