import { z } from 'zod';
import { ItemSchema, type ItemWithoutUrl } from './item.js';

/** The kind of a field's value in JSON. A `time` is a string. */
export type FieldKind = 'string' | 'number' | 'integer' | 'boolean' | 'time' | 'strings' | 'values';

/** A field of an item, as {@link ItemSchema} declares it. */
export interface ItemField {
  name: keyof ItemWithoutUrl;
  kind: FieldKind;
  isNullable: boolean;
  /** The allowed values, if the field is an enum. */
  values?: readonly string[];
  /** The smallest number allowed. */
  minimum?: number;
}

/** The parts of a JSON schema that are used here. */
interface JsonSchema {
  type?: string | string[];
  format?: string;
  enum?: string[];
  minimum?: number;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
}

/** The stored fields of an item, which are all but `url`, in response order. */
export const ITEM_FIELDS: readonly ItemField[] = Object.entries(z.toJSONSchema(ItemSchema).properties ?? {})
  .filter(([name]) => name !== 'url')
  .map(([name, schema]) => toField(name as keyof ItemWithoutUrl, schema as JsonSchema));

function toField(name: keyof ItemWithoutUrl, { anyOf, ...schema }: JsonSchema): ItemField {
  const types = (anyOf ?? [schema]).map(({ type }) => type).flat();
  const value = anyOf?.find(({ type }) => type !== 'null') ?? schema;
  const [type] = types.filter((type) => type !== 'null');
  return {
    name,
    kind: kindOf(value, type),
    isNullable: types.includes('null'),
    ...(value.enum === undefined ? {} : { values: value.enum }),
    ...(value.minimum === undefined || value.minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum: value.minimum }),
  };
}

function kindOf({ format, items }: JsonSchema, type: string | undefined): FieldKind {
  if (type === 'array') return items?.type === 'string' ? 'strings' : 'values';
  return format === 'date-time' ? 'time' : (type as FieldKind);
}
