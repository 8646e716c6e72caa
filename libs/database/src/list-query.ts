import { ITEM_STATUSES, type ItemStatus } from '@app/contracts';
import { type mongo } from 'mongoose';
import type { ItemRecord } from './item-record.js';
import { LIST_INDEXES, type LIST_ORDER } from './models.js';

export type Filter = mongo.Filter<mongo.Document>;

/** Which items a list holds; what is absent does not restrict it. */
export interface ItemFilter {
  status?: ItemStatus | undefined;
  categoryId?: number | undefined;
  /** Search terms, each of which an item must have; empty = no search. */
  terms?: string[] | undefined;
}

/** An item's place in the order of lists. */
export type ListPosition = Pick<ItemRecord, keyof typeof LIST_ORDER>;

export const POSITION_FIELDS = { _id: 0, isBoosted: 1, boostScore: 1, createdAt: 1, publicId: 1 } as const;

/** A list as one index holds it; some of its items may have to be left out when they are looked at. */
export interface IndexedList {
  hint: (typeof LIST_INDEXES)[keyof typeof LIST_INDEXES];
  filter: Filter;
  /** Parts of the index, each in the order of lists, which MongoDB merges by their keys; one part when absent. */
  parts?: readonly Filter[];
}

/** In the index of categories the status comes before the order. */
const EACH_STATUS = ITEM_STATUSES.map((status) => ({ status }));

/** Returns every way to read the list: by a search term, by the category or else by the status. */
export function listsToReadFrom({ status, categoryId, terms = [] }: ItemFilter): [IndexedList, ...IndexedList[]] {
  const shown = { isVisible: true };
  const lists: IndexedList[] = terms.map((term) => ({
    hint: LIST_INDEXES.search,
    filter: { searchTerms: term, ...shown },
  }));
  if (categoryId !== undefined) {
    const filter = { categoryId, ...shown };
    const ofStatus = status === undefined ? { filter, parts: EACH_STATUS } : { filter: { ...filter, status } };
    lists.push({ hint: LIST_INDEXES.category, ...ofStatus });
  } else if (status !== undefined) lists.push({ hint: LIST_INDEXES.status, filter: { ...shown, status } });
  const [first, ...others] = lists;
  return first === undefined ? [{ hint: LIST_INDEXES.all, filter: shown }] : [first, ...others];
}

/**
 * Returns the condition of a list that is read from one of its indexes, after a position or as a whole. What the index does
 * not tell is looked up in each document.
 */
export function listFilter(
  { filter, parts = [{}] }: IndexedList,
  { status, categoryId, terms = [] }: ItemFilter,
  after?: ListPosition,
): Filter {
  const others = terms.filter((term) => term !== filter['searchTerms']);
  const ranges = after === undefined ? [{}] : rangesAfter(after);
  return {
    $or: parts.flatMap((part) => ranges.map((range) => ({ ...filter, ...part, ...range }))),
    ...(categoryId !== undefined && !('categoryId' in filter) ? { categoryId } : {}),
    ...(status !== undefined && !('status' in filter) ? { status } : {}),
    // Said in a way that no index serves: for `$all` MongoDB would try each term's range, and keep any of them.
    ...(others.length > 0 ? { $nor: others.map((term) => ({ searchTerms: { $ne: term } })) } : {}),
  };
}

/** Returns the condition of a list, for a query that finds its items otherwise. */
export function matching(filter: ItemFilter): Filter {
  return listFilter(listsToReadFrom(filter)[0], filter);
}

/** Returns a range for each field of the order: the items that are equal in the fields before it, and less in this one. */
function rangesAfter({ isBoosted, boostScore, createdAt, publicId }: ListPosition): Filter[] {
  return [
    { isBoosted, boostScore, createdAt, publicId: { $lt: publicId } },
    { isBoosted, boostScore, createdAt: { $lt: createdAt } },
    { isBoosted, boostScore: { $lt: boostScore } },
    ...(isBoosted ? [{ isBoosted: false }] : []),
  ];
}

/** Returns a position after which this one comes next. */
export function justBefore(position: ListPosition): ListPosition {
  return { ...position, publicId: position.publicId + 1 };
}
