import { CREATE_EXAMPLE, FULL_CREATE_EXAMPLE, ITEM_EXAMPLE } from './examples.js';
import { headers, RATE_LIMIT_HEADERS, type PARAMETERS } from './headers.js';
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
    'Returns one page of the items that match all filters. Boosted items come first, by `boostScore`, then the newest. Favourites come in ' +
    'the order in which they were favourited, the most recent first. A page beyond the last is empty. Items with `isVisible: false` are ' +
    'left out. A request without a body and without a Content-Type counts as `{}`.',
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
      description: 'The items, or `[]` if there are none.',
      headers: headers({ 'Next-After': 'NextAfter', ...RATE_LIMIT_HEADERS }),
      content: json(
        { type: 'array', maxItems: 100, items: schemaRef('Item') },
        { items: { value: [ITEM_EXAMPLE] }, none: { value: [] } },
      ),
    },
    ...errorResponses([...ALWAYS, 'FORBIDDEN']),
  },
};

export const getById = {
  operationId: 'getById',
  tags: ['items'],
  summary: 'Get an item',
  description: 'Returns one item, even if it is hidden. An item that any response has returned is found at once.',
  parameters: parameters('RequestId'),
  requestBody: {
    required: true,
    content: json(schemaRef('GetByIdInput'), { item: { value: { id: ITEM_EXAMPLE.id } } }),
  },
  responses: {
    200: { description: 'The item.', headers: headers(RATE_LIMIT_HEADERS), content: json(schemaRef('Item'), { item }) },
    ...errorResponses([...ALWAYS, 'NOT_FOUND']),
  },
};

const openIt = {
  operationId: 'getById',
  description: 'The `id` in the response is the input of `getById`.',
  requestBody: { id: '$response.body#/id' },
};

export const create = {
  operationId: 'create',
  tags: ['items'],
  summary: 'Create an item',
  description:
    'Returns the item once it is stored durably. Every refusal is decided before anything is queued, except the 422 of two bodies that ' +
    'race for one key. Without an Idempotency-Key, one request creates at most one item, and the same request again creates another.',
  parameters: parameters('IdempotencyKey', 'Prefer', 'RequestId'),
  requestBody: {
    required: true,
    content: json(schemaRef('CreateItemInput'), {
      item: { summary: 'Required fields only', value: CREATE_EXAMPLE },
      withPhotos: { summary: 'All fields, with the slug of the category', value: FULL_CREATE_EXAMPLE },
    }),
  },
  responses: {
    200: {
      description: 'The stored item.',
      headers: headers({ 'Idempotency-Replayed': 'IdempotencyReplayed', ...RATE_LIMIT_HEADERS }),
      content: json(schemaRef('Item'), { item }),
      links: { openIt },
    },
    202: {
      description: 'The create is queued, because the client preferred not to wait. It is as durable as Redis.',
      headers: headers({ 'Preference-Applied': 'PreferenceApplied', ...RATE_LIMIT_HEADERS }),
      content: json(schemaRef('QueuedItem'), { queued: { value: { id: ITEM_EXAMPLE.id, status: 'queued' } } }),
      links: { openIt },
    },
    ...errorResponses([...ALWAYS, 'FORBIDDEN', 'UNPROCESSABLE_CONTENT', 'GATEWAY_TIMEOUT']),
  },
};
