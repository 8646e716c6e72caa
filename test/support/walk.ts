import type { Item } from '@app/contracts';
import type { Answer, ApiClient } from './api-client.js';

/** No list of a test has as many pages. */
const MAX_PAGES = 2000;

/** Walks a list by `Next-After`: asks for the next page once the caller is done with the last one. */
export async function* pagesOf(api: ApiClient, input: object): AsyncGenerator<Item[]> {
  let after: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer: Answer<Item[]> = await api.call('getAll', after === null ? input : { ...input, after });
    if (answer.status !== 200) throw new Error(`${JSON.stringify({ ...input, after })} was a ${String(answer.status)}`);
    yield answer.body;
    after = answer.headers.get('next-after');
    if (after === null) return;
  }
  throw new Error(`the walk of ${JSON.stringify(input)} has no end`);
}

/** All items of a list, walked by `Next-After`. */
export async function walk(api: ApiClient, input: object): Promise<Item[]> {
  const items: Item[] = [];
  for await (const page of pagesOf(api, input)) items.push(...page);
  return items;
}
