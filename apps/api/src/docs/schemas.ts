import {
  CreateItemInputSchema,
  errorSchema,
  GetAllInputSchema,
  GetByIdInputSchema,
  ItemSchema,
  QueuedItemSchema,
  type ErrorCode,
} from '@app/contracts';
import { z } from 'zod';

const INPUTS = {
  GetAllInput: GetAllInputSchema,
  GetByIdInput: GetByIdInputSchema,
  CreateItemInput: CreateItemInputSchema,
};
const OUTPUTS = { Item: ItemSchema, QueuedItem: QueuedItemSchema };

/** Replaces zod's pattern, which takes 300 characters to check leap years. Programs rely on `format`. */
const TIME = String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$`;

/** JSON Schemas (draft 2020-12, as in OpenAPI 3.1) of the inputs and outputs of operations, by name. */
export const SCHEMAS = {
  ...mapValues(INPUTS, (schema) => jsonSchema(schema, 'input')),
  ...mapValues(OUTPUTS, (schema) => jsonSchema(schema, 'output')),
};

/** Returns the JSON Schema of an error body. */
export function errorJsonSchema(code: ErrorCode): object {
  return jsonSchema(errorSchema(code), 'output');
}

/** Returns a reference to one of {@link SCHEMAS}. */
export function schemaRef(name: keyof typeof SCHEMAS): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const json = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema: part }) => {
      if (part.format === 'date-time') part.pattern = TIME;
    },
  });
  // The OpenAPI document determines the dialect.
  delete json.$schema;
  return json;
}

function mapValues<Name extends string, From, To>(
  from: Record<Name, From>,
  map: (value: From) => To,
): Record<Name, To> {
  return Object.fromEntries(Object.entries<From>(from).map(([name, value]) => [name, map(value)])) as Record<Name, To>;
}
