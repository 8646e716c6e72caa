// Writes src/schema.ts, the types of inputs and items, from openapi.json. `npm run openapi` runs it.
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));
const { openapi, info, components } = document;
const nodes = await openapiTS(
  { openapi, info, paths: {}, components: { schemas: components.schemas } },
  { rootTypes: true, rootTypesNoSchemaPrefix: true, defaultNonNullable: false },
);
const header = '// Generated from openapi.json by `npm run openapi`.\n';
writeFileSync(new URL('src/schema.ts', import.meta.url), header + astToString(nodes));
