import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CreateItemInputSchema,
  ERRORS,
  errorSchema,
  GetAllInputSchema,
  GetByIdInputSchema,
  ItemSchema,
  QueuedItemSchema,
  type ErrorCode,
} from '@app/contracts';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import type { ZodType } from 'zod';
import { OPENAPI } from './openapi.js';

const ROOT = join(__dirname, '..', '..', '..', '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const document = JSON.parse(JSON.stringify(OPENAPI)) as Document;

interface Document {
  info: { version: string };
  paths: Record<string, { post: Operation }>;
  components: { schemas: Record<string, ObjectSchema>; responses: Record<string, Content> };
}
interface Operation {
  operationId: string;
  requestBody: Content;
  responses: Record<string, Content & { $ref?: string }>;
}
interface Content {
  headers?: Record<string, { $ref: string }>;
  content: { 'application/json': { schema: { $ref?: string }; examples: Record<string, { value: unknown }> } };
}
interface ObjectSchema {
  properties: Record<string, { description?: string; type?: string | string[]; anyOf?: { type: string }[] }>;
}

const operation = (name: string): Operation => {
  const found = Object.values(document.paths).find(({ post }) => post.operationId === name);
  if (found === undefined) throw new Error(`no operation ${name}`);
  return found.post;
};
const examplesOf = ({ content }: Content): unknown[] =>
  Object.values(content['application/json'].examples).map(({ value }) => value);

describe('the OpenAPI document', () => {
  it('the OpenAPI document equals the committed openapi.json, which npm run openapi writes', () => {
    expect(document).toEqual(JSON.parse(read('openapi.json')));
  });

  it('the OpenAPI document has the version of package.json', () => {
    expect(document.info.version).toBe((JSON.parse(read('package.json')) as { version: string }).version);
  });

  it('the OpenAPI document is valid OpenAPI 3.1, and its examples match its schemas', async () => {
    const error = 'error';
    const examples = { severity: error, allowAdditionalProperties: true } as const;
    const rules = { 'no-invalid-media-type-examples': examples, 'no-invalid-parameter-examples': examples } as const;
    const config = await createConfig({ extends: ['recommended-strict'], rules });
    const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: '/openapi.json', config });
    expect(problems.map(({ message, location }) => [message, location[0]?.pointer])).toEqual([]);
  });

  describe('examples', () => {
    const inputs: [string, ZodType][] = [
      ['getAll', GetAllInputSchema],
      ['getById', GetByIdInputSchema],
      ['create', CreateItemInputSchema],
    ];
    it.each(inputs)('the OpenAPI document has valid examples of the input of %s', (name, schema) => {
      const examples = examplesOf(operation(name).requestBody);
      expect(examples.map((example) => schema.parse(example))).toEqual(examples);
      expect(examples.length).toBeGreaterThan(0);
    });

    const outputs: [string, string, ZodType][] = [
      ['getAll', '200', ItemSchema.array()],
      ['getById', '200', ItemSchema],
      ['create', '200', ItemSchema],
      ['create', '202', QueuedItemSchema],
    ];
    it.each(outputs)(
      'the OpenAPI document has valid examples of the output of %s with status %s',
      (name, status, schema) => {
        const { responses } = operation(name);
        const examples = examplesOf(
          responses[status] ?? { content: { 'application/json': { schema: {}, examples: {} } } },
        );
        expect(examples.map((example) => schema.parse(example))).toEqual(examples);
        expect(examples.length).toBeGreaterThan(0);
      },
    );

    it.each(Object.entries(document.components.responses))(
      'the OpenAPI document has a valid example of the error %s',
      (code, response) => {
        const examples = examplesOf(response);
        expect(examples.map((example) => errorSchema(code as ErrorCode).parse(example))).toEqual(examples);
        expect(examples).toHaveLength(1);
      },
    );
  });

  it.each(Object.entries(document.components.schemas))(
    'the OpenAPI document describes each field of %s and says whether it may be null',
    (_, schema) => {
      const wrong = Object.entries(schema.properties).filter(([, { description = '', type, anyOf }]) => {
        const mayBeNull = [type, anyOf?.map((each) => each.type)].flat(2).includes('null');
        const saysNever = /(Never|Not) null\.$/.test(description);
        return description.length < 10 || (mayBeNull ? !/null/i.test(description) || saysNever : !saysNever);
      });
      expect(wrong.map(([name]) => name)).toEqual([]);
    },
  );

  it('the OpenAPI document states the limits of the input fields', () => {
    const { GetAllInput, CreateItemInput } = document.components.schemas;
    const description = expect.any(String) as string;
    expect(GetAllInput).toMatchObject({
      properties: {
        page: { type: 'integer', minimum: 1 },
        pageSize: { type: 'integer', minimum: 1, maximum: 100 },
        status: { enum: ['available', 'reserved', 'sold', 'shipped', 'delivered', 'cancelled', 'all'] },
      },
    });
    expect(GetAllInput).not.toHaveProperty('required');
    expect(CreateItemInput?.properties).toEqual({
      name: { type: 'string', minLength: 3, description },
      description: { type: 'string', minLength: 10, description },
      price: { type: 'number', minimum: 0, maximum: 999_999.99, description },
      categoryId: { type: 'string', minLength: 1, description },
      stock: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description },
      brandId: { type: ['number', 'null'], description },
      conditionId: { type: ['number', 'null'], description },
      isFeatured: { type: ['boolean', 'null'], description },
      images: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 5, description },
      photos: { type: 'array', items: {}, minItems: 1, maxItems: 5, description },
    });
  });

  it('the OpenAPI document lists each error under its status', () => {
    const statusOf = (ref: string): string => String(ERRORS[ref.split('/').at(-1) as ErrorCode].status);
    for (const { post } of Object.values(document.paths)) {
      const errors = Object.entries(post.responses).filter(([, { $ref }]) => $ref !== undefined);
      expect(errors.map(([status]) => status)).toEqual(errors.map(([, { $ref = '' }]) => statusOf($ref)));
      expect(errors.map(([status]) => status)).toEqual(expect.arrayContaining(['400', '413', '415', '500', '503']));
    }
  });
});
