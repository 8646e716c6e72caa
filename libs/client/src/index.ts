export { ApiError, type Issue } from './api-error.js';
export { ItemListingClient, type CreateOptions, type ItemPage } from './item-listing-client.js';
export type { CallOptions, ClientOptions } from './transport.js';
export type { CreateItemInput, GetAllInput, Item } from './schema.js';
