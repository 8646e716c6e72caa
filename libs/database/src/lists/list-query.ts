import { ITEM_STATUSES, type ItemStatus } from '@app/contracts';
import type { mongo } from 'mongoose';
import { arraysIn } from '../connection/multikey-index.js';
import { LIST_INDEXES, LIST_ORDER } from '../models.js';
import type { ListPosition } from './list-position.js';

export type Filter = mongo.Filter<mongo.Document>;

/** Which items a list contains. An absent field does not restrict it. */
export interface ItemFilter {
  status?: ItemStatus | undefined;
  categoryId?: number | undefined;
  /** Search terms, all of which an item must have. An empty list means no search. */
  terms?: string[] | undefined;
}

/** A list that one index provides. Some of its items may have to be filtered out after they are fetched. */
export interface IndexedList {
  hint: (typeof LIST_INDEXES)[keyof typeof LIST_INDEXES];
  filter: Filter;
  /** Parts of the index, each in list order, which MongoDB merges by their keys. A single part if absent. */
  parts?: readonly Filter[];
}

/** In the category index, the status precedes the order fields. */
const EACH_STATUS = ITEM_STATUSES.map((status) => ({ status }));

/** Returns every way to read the list: by each search term, and by the category or, without one, by the status. */
export function indexedLists({ status, categoryId, terms = [] }: ItemFilter): [IndexedList, ...IndexedList[]] {
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
 * Returns the filter for ranges of a list, by default all of it, that is read from one of its indexes. Conditions that
 * the index does not cover are checked on each document.
 */
export function listFilter(
  { filter, parts = [{}] }: IndexedList,
  { status, categoryId, terms = [] }: ItemFilter,
  ranges: readonly Filter[] = [{}],
): Filter {
  const others = terms.filter((term) => term !== filter['searchTerms']);
  return {
    $or: parts.flatMap((part) => ranges.map((range) => ({ ...filter, ...part, ...range }))),
    ...(categoryId !== undefined && !('categoryId' in filter) ? { categoryId } : {}),
    ...(status !== undefined && !('status' in filter) ? { status } : {}),
    // Written so that no index can serve it. With `$all`, MongoDB would try the range of each term and may choose any.
    ...(others.length > 0 ? { $nor: others.map((term) => ({ searchTerms: { $ne: term } })) } : {}),
  };
}

/**
 * Leaves documents out that have an array in a field of the order, which are not valid Items. They may precede the position
 * after which a filter begins, and would be found again after each later position: MongoDB compares each element of an
 * array separately. This condition makes a query slower.
 */
export function withoutArrays({ $nor = [], ...filter }: Filter): Filter {
  return { ...filter, $nor: [...$nor, ...arraysIn(Object.keys(LIST_ORDER))] };
}

/** Returns the filter of a list, for a query that finds its items in another way. */
export function conditionsOf(filter: ItemFilter): Filter {
  return listFilter(indexedLists(filter)[0], filter);
}

/**
 * Returns the ranges of a list after a position, in groups that follow each other in list order. Most items are without a
 * boost, so that a page is usually in the first group.
 */
export function rangesAfter({ isBoosted, boostScore, createdAt, publicId }: ListPosition): Filter[][] {
  const sameBoost = { isBoosted, boostScore };
  const next = [
    { ...sameBoost, createdAt, publicId: { $lt: publicId } },
    { ...sameBoost, createdAt: { $lt: createdAt } },
  ];
  const others = [
    ...typesAfter(createdAt).map((range) => ({ ...sameBoost, createdAt: range })),
    { isBoosted, boostScore: { $lt: boostScore } },
  ];
  return isBoosted ? [[...next, ...others, { isBoosted: false }]] : [next, others];
}

/**
 * Returns a range for each type of time that follows that of a time. A comparison matches only values of the type it
 * names. In descending order, dates precede strings, and strings precede numbers
 * (https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/).
 */
function typesAfter(time: ListPosition['createdAt']): Filter[] {
  const numbers = { $lte: Infinity };
  if (time instanceof Date) return [{ $gte: '' }, numbers];
  return typeof time === 'string' ? [numbers] : [];
}
