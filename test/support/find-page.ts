import type { ItemFilter, ItemPage, ItemRepository, PageRequest } from '@app/database';

/** Reads a page of a list or, with a user id, of favourites. Returns undefined if `after` is not a position in it. */
export async function findPage(
  items: ItemRepository,
  filter: ItemFilter,
  request: PageRequest,
  userId?: string,
): Promise<ItemPage | undefined> {
  const deadline = performance.now() + 60_000;
  const part = await items.findPart(userId, request, deadline);
  return part && items.findPage(part, filter, deadline);
}
