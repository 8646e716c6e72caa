import { CREATE_EXAMPLE, FULL_CREATE_EXAMPLE, ITEM_EXAMPLE } from './examples.js';
import { headers, type PARAMETERS } from './headers.js';
import { ALWAYS, errorResponses, json } from './responses.js';
import { schemaRef } from './schemas.js';

const parameters = (...names: (keyof typeof PARAMETERS)[]): object[] =>
  names.map((name) => ({ $ref: `#/components/parameters/${name}` }));

const item = { value: ITEM_EXAMPLE };

export const getAll = {
  operationId: 'getAll',
  tags: ['items'],
  summary: 'List items',
  description:
    'One page of the items that match all filters. Boosted items come first, by `boostScore`, then the newest; favourites in the order in ' +
    'which they were favourited, the latest first. A page beyond the last is empty. Items with `isVisible: false` are left out. ' +
    'No body and no Content-Type is `{}`.',
  parameters: parameters('RequestId'),
  requestBody: {
    content: json(schemaRef('GetAllInput'), {
      first: { summary: 'The first page', value: {} },
      search: { summary: 'A search', value: { search: 'creme dish', status: 'available', pageSize: 20 } },
      category: { summary: 'A page of a category', value: { categoryId: '1', page: 2 } },
    }),
  },
  responses: {
    200: {
      description: 'The items; `[]` when there are none.',
      headers: headers({ 'Next-After': 'NextAfter' }),
      content: json(
        { type: 'array', maxItems: 100, items: schemaRef('Item') },
        { items: { value: [ITEM_EXAMPLE] }, none: { value: [] } },
      ),
    },
    ...errorResponses(ALWAYS),
  },
};

export const getById = {
  operationId: 'getById',
  tags: ['items'],
  summary: 'Open an item',
  description: 'One item, also a hidden one. An item that a create has answered is found at once.',
  parameters: parameters('RequestId'),
  requestBody: {
    required: true,
    content: json(schemaRef('GetByIdInput'), { item: { value: { id: ITEM_EXAMPLE.id } } }),
  },
  responses: {
    200: { description: 'The item.', headers: headers(), content: json(schemaRef('Item'), { item }) },
    ...errorResponses([...ALWAYS, 'NOT_FOUND']),
  },
};

const openIt = {
  operationId: 'getById',
  description: 'The `id` of the answer is what getById takes.',
  requestBody: { id: '$response.body#/id' },
};

export const create = {
  operationId: 'create',
  tags: ['items'],
  summary: 'Create an item',
  description:
    'Answers the item once it is stored for good. Every refusal is decided before anything is queued. Without an Idempotency-Key one request ' +
    'makes at most one item, and the same request again makes another.',
  parameters: parameters('IdempotencyKey', 'Prefer', 'RequestId'),
  requestBody: {
    required: true,
    content: json(schemaRef('CreateItemInput'), {
      item: { summary: 'No more than is required', value: CREATE_EXAMPLE },
      withPhotos: { summary: 'With everything, the category by its slug', value: FULL_CREATE_EXAMPLE },
    }),
  },
  responses: {
    200: {
      description: 'The item as it is stored.',
      headers: headers({ 'Idempotency-Replayed': 'IdempotencyReplayed' }),
      content: json(schemaRef('Item'), { item }),
      links: { openIt },
    },
    202: {
      description: 'The create is queued, as was preferred: as durable as the Redis it went to.',
      headers: headers({ 'Preference-Applied': 'PreferenceApplied' }),
      content: json(schemaRef('QueuedItem'), { queued: { value: { id: ITEM_EXAMPLE.id, status: 'queued' } } }),
      links: { openIt },
    },
    ...errorResponses([...ALWAYS, 'UNPROCESSABLE_CONTENT', 'GATEWAY_TIMEOUT']),
  },
};
