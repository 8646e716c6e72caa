/** Maximum nesting of a value of unspecified shape. The value itself is the first level. */
export const MAX_DEPTH = 32;

/** Limits on the reported reasons, and on the keys in their paths, to keep the response to a hostile body small. */
const MAX_REASONS = 100;
const MAX_SEGMENT = 64;

/** A reason why a value cannot be stored exactly as sent, and the path to it. */
export interface Inexactness {
  path: (string | number)[];
  message: string;
}

/**
 * Returns the reasons why a JSON value of unspecified shape cannot be stored in BSON exactly as sent; empty if it can.
 * Finds lone surrogates, NUL and `_bsontype` in keys, numbers that overflow, nesting over {@link MAX_DEPTH}, and
 * references that would change when read back. One such value would make the driver refuse a whole batch of documents.
 */
export function findInexactness(value: unknown): Inexactness[] {
  const found: Inexactness[] = [];
  visit(value, [], found);
  return found;
}

/** All values share one path array, which is copied only for a reason, because there may be very many values. */
function visit(value: unknown, path: (string | number)[], found: Inexactness[]): void {
  const message = refusalOf(value, path.length);
  if (message !== undefined) found.push({ path: path.map(shortened), message });
  else if (Array.isArray(value)) visitElements(value, path, found);
  else if (typeof value === 'object' && value !== null) visitMembers(value as Record<string, unknown>, path, found);
}

function visitElements(elements: readonly unknown[], path: (string | number)[], found: Inexactness[]): void {
  for (let index = 0; index < elements.length && found.length < MAX_REASONS; index++) {
    path.push(index);
    visit(elements[index], path, found);
    path.pop();
  }
}

function visitMembers(members: Record<string, unknown>, path: (string | number)[], found: Inexactness[]): void {
  for (const key of Object.keys(members)) {
    if (found.length >= MAX_REASONS) return;
    path.push(key);
    const message = refusalOfKey(key);
    if (message === undefined) visit(members[key], path, found);
    else found.push({ path: path.map(shortened), message });
    path.pop();
  }
}

function refusalOf(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string' && !value.isWellFormed()) return NOT_WELL_FORMED;
  if (typeof value === 'number' && !Number.isFinite(value)) return NOT_EXACT_NUMBER;
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= MAX_DEPTH) return `Nested too deep: at most ${String(MAX_DEPTH)} levels`;
  return isChangedReference(value) ? NOT_EXACT_REFERENCE : undefined;
}

/**
 * The driver reads an object with `$ref` and `$id` as a DBRef, which splits `database.collection` at a single dot and
 * loses `__proto__` (bson, src/db_ref.ts).
 */
function isChangedReference(value: { $ref?: unknown; $id?: unknown }): boolean {
  if (typeof value.$ref !== 'string' || value.$id === undefined || value.$id === null) return false;
  return ONE_DOT.test(value.$ref) || Object.hasOwn(value, '__proto__');
}

/** The path in the response must be well-formed Unicode, even if the key itself is not. */
function shortened(segment: string | number): string | number {
  if (typeof segment === 'number') return segment;
  const start = segment.slice(0, MAX_SEGMENT).toWellFormed();
  return segment.length > MAX_SEGMENT ? `${start}…` : start;
}

const ONE_DOT = /^[^.]*\.[^.]*$/;

function refusalOfKey(key: string): string | undefined {
  if (key === '_bsontype') return 'The key _bsontype is reserved and cannot be stored';
  if (key.includes('\0')) return 'A key with a NUL character cannot be stored';
  if (!key.isWellFormed()) return NOT_WELL_FORMED;
  return undefined;
}

export const NOT_WELL_FORMED = 'Text with a lone surrogate (half of a UTF-16 pair) cannot be stored';
export const NOT_EXACT_NUMBER =
  'Number cannot be stored exactly: whole numbers go up to ±9007199254740991, others up to ±1.79e308';
const NOT_EXACT_REFERENCE =
  'An object with $ref and $id cannot be stored exactly when its $ref has one dot, or with a key __proto__';
