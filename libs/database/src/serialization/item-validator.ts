import { ITEM_FIELDS, type FieldKind, type ItemField } from '@app/contracts';
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

/** What MongoDB checks whenever a service writes an item: the fields of `ItemSchema`, with their types and limits. */
export const ITEM_VALIDATOR = {
  $jsonSchema: {
    bsonType: 'object',
    required: ITEM_FIELDS.filter(({ isNullable }) => !isNullable).map(storedName),
    properties: Object.fromEntries(ITEM_FIELDS.map((field) => [storedName(field), schemaOf(field)])),
  },
};

function schemaOf({ name, kind, isNullable, values, minimum }: ItemField): object {
  if (name === 'id') return { bsonType: 'objectId' };
  if (values !== undefined) return { enum: isNullable ? [...values, null] : values };
  const limits = minimum === undefined ? {} : { minimum };
  const items = kind === 'strings' ? { items: { bsonType: 'string' } } : {};
  const schema = { bsonType: [...TYPES[kind], ...(isNullable ? ['null'] : [])], ...items, ...limits };
  // MongoDB computes `multipleOf` with decimals, which is slow. Most integers are stored as such.
  return kind === 'integer' ? { anyOf: [schema, { bsonType: 'number', multipleOf: 1, ...limits }] } : schema;
}
