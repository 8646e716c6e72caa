import { createHash } from 'node:crypto';

/**
 * The fields of the create input that each version of the hash covers, sorted by name, version 1 first. A new field
 * needs a new version. Earlier versions stay, because the hashes of stored items use them.
 */
const VERSIONS: Versions = [
  ['brandId', 'categoryId', 'conditionId', 'description', 'images', 'isFeatured', 'name', 'photos', 'price', 'stock'],
];
type Versions = readonly (readonly string[])[];

const VERSION_AND_HASH = /^(?:(\d+):)?(.*)$/;

/**
 * Returns the hash (SHA-256, base64url) of a validated input, regardless of the order of its keys. It is the hash of
 * the canonical JSON, with keys sorted by UTF-16 code units (https://www.rfc-editor.org/rfc/rfc8785). The version and a
 * colon precede it, except for version 1.
 */
export function requestHash(input: object, versions = VERSIONS): string {
  const version = versions.length;
  const hash = hashOf(input, versions[version - 1] ?? []);
  return version === 1 ? hash : `${String(version)}:${hash}`;
}

/**
 * Returns whether a stored hash was made from this input, by the rules of the hash's version. A retry therefore stays
 * the same request after the input has gained a field. Returns undefined if this process does not know the version yet,
 * as during an upgrade: only a newer instance can tell.
 */
export function isSameRequest(stored: string, input: object, versions = VERSIONS): boolean | undefined {
  const [, version = '1', hash] = VERSION_AND_HASH.exec(stored) ?? [];
  const fields = versions[Number(version) - 1];
  return fields && hashOf(input, fields) === hash;
}

function hashOf(input: object, fields: readonly string[]): string {
  const values = input as Record<string, unknown>;
  const members = fields.filter((field) => values[field] !== undefined);
  const json = members.map((field) => `"${field}":${canonicalJson(values[field])}`).join(',');
  return createHash('sha256').update(`{${json}}`).digest('base64url');
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  // JSON and `String()` write finite numbers alike.
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
