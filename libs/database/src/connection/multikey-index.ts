/** Returns a condition for each field: the field is an array. */
export function arraysIn(fields: readonly string[]): Record<string, { $type: 'array' }>[] {
  return fields.map((field) => ({ [field]: { $type: 'array' } }));
}

/**
 * Returns the fields of an index, other than `searchTerms`, in which a document has an array or had one since the index was
 * built, from the plan of a query that uses the index.
 *
 * @see https://www.mongodb.com/docs/manual/core/indexes/index-types/index-multikey/
 */
export function unexpectedArraysIn(plan: unknown): string[] {
  if (typeof plan !== 'object' || plan === null) return [];
  return Object.entries(plan).flatMap(([name, value]: [string, unknown]) =>
    name === 'multiKeyPaths'
      ? Object.entries(value as Record<string, string[]>).flatMap(([path, arrays]) =>
          arrays.length > 0 && path !== 'searchTerms' ? [path] : [],
        )
      : unexpectedArraysIn(value),
  );
}
