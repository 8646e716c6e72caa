import { ITEM_FIELDS, type FieldKind, type ItemField } from '@app/contracts';
import { NOT_INDEXED } from '../item-record.js';
import { LIST_INDEXES } from '../models.js';
import { storedName } from './projection.js';

/** The BSON types of each kind of field (https://www.mongodb.com/docs/manual/reference/operator/query/type/). */
const TYPES: Record<FieldKind, string[]> = {
  string: ['string'],
  number: ['number'],
  integer: ['int', 'long'],
  boolean: ['bool'],
  time: ['date'],
  strings: ['array'],
  values: ['array'],
};

/** The times that ISO 8601 writes with four digits for the year. */
export const [FIRST_TIME, LAST_TIME] = [new Date('0000-01-01T00:00:00.000Z'), new Date('9999-12-31T23:59:59.999Z')];

/** The fields of `ItemSchema`, with their types and limits. A limit of a number also excludes NaN. */
const VALID_ITEM = {
  required: ITEM_FIELDS.filter(({ isNullable }) => !isNullable).map(storedName),
  properties: Object.fromEntries(ITEM_FIELDS.map((field) => [storedName(field), schemaOf(field)])),
};
/**
 * An array in a field of a list index, other than the search terms, makes MongoDB sort the list for each of its pages
 * (https://www.mongodb.com/docs/manual/core/indexes/index-types/index-multikey/).
 */
const LIST_FIELDS = Object.values(LIST_INDEXES).flatMap((index) =>
  Object.keys(index).filter((name) => name !== 'searchTerms'),
);
const NO_ARRAYS = Object.fromEntries(LIST_FIELDS.map((name) => [name, { not: { bsonType: 'array' } }]));
/** All clients of a burst wait for the inserts, so most fields are checked when its items get their search terms. */
const NEW_ITEM = {
  required: ['searchVersion'],
  properties: { searchVersion: { enum: [NOT_INDEXED] }, ...NO_ARRAYS },
};

/** What MongoDB checks whenever a service writes an item. JSON Schema has no limits for times. */
export const ITEM_VALIDATOR = {
  $jsonSchema: { bsonType: 'object', anyOf: [NEW_ITEM, VALID_ITEM] },
  $nor: ITEM_FIELDS.filter(({ kind }) => kind === 'time').flatMap(({ name }) => [
    { [name]: { $lt: FIRST_TIME } },
    { [name]: { $gt: LAST_TIME } },
  ]),
};

/** What MongoDB checks whenever a service writes a favourite. */
export const FAVOURITE_VALIDATOR = {
  $jsonSchema: {
    required: ['userId', 'itemId', 'createdAt'],
    properties: { userId: { bsonType: 'string' }, itemId: { bsonType: 'objectId' }, createdAt: { bsonType: 'date' } },
  },
};

function schemaOf({ name, kind, isNullable, values, minimum }: ItemField): object {
  if (name === 'id') return { bsonType: 'objectId' };
  if (values !== undefined) return { enum: isNullable ? [...values, null] : values };
  const largest = { integer: Number.MAX_SAFE_INTEGER, number: Number.MAX_VALUE }[kind as string];
  const limits = largest === undefined ? {} : { minimum: minimum ?? -largest, maximum: largest };
  const items = kind === 'strings' ? { items: { bsonType: 'string' } } : {};
  const schema = { bsonType: [...TYPES[kind], ...(isNullable ? ['null'] : [])], ...items, ...limits };
  // MongoDB computes `multipleOf` with decimals, which is slow. Most integers are stored as such.
  return kind === 'integer' ? { anyOf: [schema, { bsonType: 'number', multipleOf: 1, ...limits }] } : schema;
}
