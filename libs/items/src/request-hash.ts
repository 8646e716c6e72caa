import { createHash } from 'node:crypto';

/**
 * Hash (SHA-256, base64url) of a validated input, the same whatever the order of its keys: the hash
 * of its canonical JSON, keys sorted by UTF-16 units as in RFC 8785.
 */
export function requestHash(input: object): string {
  return createHash('sha256').update(canonicalJson(input)).digest('base64url');
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
