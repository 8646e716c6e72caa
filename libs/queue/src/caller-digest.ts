import { createHash } from 'node:crypto';

/** 132 bits: two callers never share a digest. */
const LENGTH = 22;

/** Returns the digest of a caller, for names in Redis: they have the same length and say nothing about callers. */
export function callerDigest(caller: string): string {
  return createHash('sha256').update(caller).digest('base64url').slice(0, LENGTH);
}
