import type { Item } from '@app/contracts';
import type { ApiClient, HttpResponse } from './api-client.js';

/** More pages than any list in a test has. */
const MAX_PAGES = 2000;

/** Yields the pages of a list by following `Next-After`. Requests a page only when the caller asks for it. */
export async function* pagesOf(api: ApiClient, input: object): AsyncGenerator<Item[]> {
  let after: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const response: HttpResponse<Item[]> = await api.page(after === null ? input : { ...input, after });
    yield response.body;
    after = response.headers.get('next-after');
    if (after === null) return;
  }
  throw new Error(`${JSON.stringify(input)} has more than ${String(MAX_PAGES)} pages`);
}

/** Returns all items of a list by following `Next-After`. */
export async function walk(api: ApiClient, input: object): Promise<Item[]> {
  const items: Item[] = [];
  for await (const page of pagesOf(api, input)) items.push(...page);
  return items;
}
