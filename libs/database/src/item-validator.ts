import { ITEM_FIELDS, type FieldKind, type ItemField } from '@app/contracts';
import { storedName } from './projection.js';

/** The BSON type of each kind of field (https://www.mongodb.com/docs/manual/reference/operator/query/type/). */
const SCHEMAS: Record<FieldKind, Record<string, unknown>> = {
  string: { bsonType: 'string' },
  number: { bsonType: 'number' },
  integer: { bsonType: 'number', multipleOf: 1 },
  boolean: { bsonType: 'bool' },
  time: { bsonType: 'date' },
  strings: { bsonType: 'array', items: { bsonType: 'string' } },
  values: { bsonType: 'array' },
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
  if (isNullable) return { anyOf: [SCHEMAS[kind], { bsonType: 'null' }] };
  return {
    ...SCHEMAS[kind],
    ...(values === undefined ? {} : { enum: values }),
    ...(minimum === undefined ? {} : { minimum }),
  };
}
