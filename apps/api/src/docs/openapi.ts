import { VERSION } from '@app/runtime';
import { DESCRIPTION } from './description.js';
import { HEADERS, PARAMETERS } from './headers.js';
import { create, getAll, getById } from './operations.js';
import { ERROR_RESPONSES } from './responses.js';
import { SCHEMAS } from './schemas.js';
import { SECURITY_SCHEMES } from './security.js';

/**
 * The OpenAPI 3.1 document of the service, for the plain form without an envelope. It is the same on every instance,
 * whatever the configuration. `npm run openapi` writes it to openapi.json.
 */
export const OPENAPI = {
  openapi: '3.1.0',
  info: {
    title: 'Item Listing Service',
    version: VERSION,
    summary: 'Lists, returns and creates the items of a second-hand marketplace',
    description: DESCRIPTION,
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/', description: 'The server that returned this document' }],
  // Optional, because the configuration decides about it.
  security: [{}, { bearer: [] }],
  tags: [{ name: 'items', description: 'The three operations' }],
  paths: {
    '/api/orpc/items/getAll': { post: getAll },
    '/api/orpc/items/getById': { post: getById },
    '/api/orpc/items/create': { post: create },
  },
  components: {
    schemas: SCHEMAS,
    responses: ERROR_RESPONSES,
    parameters: PARAMETERS,
    headers: HEADERS,
    securitySchemes: SECURITY_SCHEMES,
  },
};
