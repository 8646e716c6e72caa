import { createHash } from 'node:crypto';

/**
 * The fields of the input of create that each version of the hash covers, the first of version 1, in the order of their
 * names. A field that is added to the input needs a further version: those before stay, because items were stored under
 * them.
 */
const VERSIONS: Versions = [
  ['brandId', 'categoryId', 'conditionId', 'description', 'images', 'isFeatured', 'name', 'photos', 'price', 'stock'],
];
type Versions = readonly (readonly string[])[];

const VERSION_AND_HASH = /^(?:(\d+):)?(.*)$/;

/**
 * Returns the hash (SHA-256, base64url) of a validated input, the same whatever the order of its keys: the hash of its
 * canonical JSON, keys sorted by UTF-16 units as in RFC 8785. A version and a colon precede it, except for version 1.
 */
export function requestHash(input: object, versions = VERSIONS): string {
  const version = versions.length;
  const hash = hashOf(input, versions[version - 1] ?? []);
  return version === 1 ? hash : `${String(version)}:${hash}`;
}

/**
 * Returns whether an input is the one that a stored hash was made of, by the rule of the hash's version: a retry is still
 * the same request after the input has got a new field. Undefined when the hash is of a later version than this process
 * knows, as in the middle of an upgrade: only another instance can tell.
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
  // JSON writes numbers as JavaScript does.
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
