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

/** A list as one index holds it, in its order; some of its items may have to be left out when they are looked at. */
export interface IndexedList {
  hint: (typeof LIST_INDEXES)[keyof typeof LIST_INDEXES];
  filter: Filter;
}

/** A list as it is read. */
export interface ListQuery extends IndexedList {
  /** Whether the index alone tells the items of the list. */
  isCovered: boolean;
}

/** Every way to read the list: by a search term, by the category or else by the status. */
export function listsToReadFrom({ status, categoryId, terms = [] }: ItemFilter): [IndexedList, ...IndexedList[]] {
  const shown = { isVisible: true };
  const lists: IndexedList[] = terms.map((term) => ({
    hint: LIST_INDEXES.search,
    filter: { searchTerms: term, ...shown },
  }));
  // All statuses by name, so that the index, in which the status comes before the order, keeps that order.
  if (categoryId !== undefined)
    lists.push({
      hint: LIST_INDEXES.category,
      filter: { categoryId, ...shown, status: status ?? { $in: [...ITEM_STATUSES] } },
    });
  else if (status !== undefined) lists.push({ hint: LIST_INDEXES.status, filter: { ...shown, status } });
  const [first, ...others] = lists;
  return first === undefined ? [{ hint: LIST_INDEXES.all, filter: shown }] : [first, ...others];
}

/** The list as read from this part of it: what else must hold is looked up in each document. */
export function listQuery(from: IndexedList, { status, categoryId, terms = [] }: ItemFilter): ListQuery {
  const others = terms.filter((term) => term !== from.filter['searchTerms']);
  const open: Filter = {
    ...(categoryId !== undefined && !('categoryId' in from.filter) ? { categoryId } : {}),
    ...(status !== undefined && !('status' in from.filter) ? { status } : {}),
    // Said in a way that no index serves: for `$all` MongoDB would try each term's range, and keep any of them.
    ...(others.length > 0 ? { $nor: others.map((term) => ({ searchTerms: { $ne: term } })) } : {}),
  };
  return { hint: from.hint, filter: { ...from.filter, ...open }, isCovered: Object.keys(open).length === 0 };
}

/** What a document of the list must be, for a query that finds it otherwise. */
export function matching(filter: ItemFilter): Filter {
  return listQuery(listsToReadFrom(filter)[0], filter).filter;
}

/** A part of a list that is one range of its index, and the order within it. */
export interface ListRange {
  filter: Filter;
  sort: Partial<typeof LIST_ORDER>;
}

const BY_NUMBER = { publicId: -1 } as const;
const BY_TIME = { createdAt: -1, ...BY_NUMBER } as const;
const BY_SCORE = { boostScore: -1, ...BY_TIME } as const;

/**
 * The items after a position: a range for each field of the order, of those that are equal in the fields before it. These
 * are left out of the sort: with all statuses MongoDB would read the whole range otherwise, and sort it.
 */
export function rangesAfter({ isBoosted, boostScore, createdAt, publicId }: ListPosition): ListRange[] {
  const ranges: ListRange[] = [
    { filter: { isBoosted, boostScore, createdAt, publicId: { $lt: publicId } }, sort: BY_NUMBER },
    { filter: { isBoosted, boostScore, createdAt: { $lt: createdAt } }, sort: BY_TIME },
    { filter: { isBoosted, boostScore: { $lt: boostScore } }, sort: BY_SCORE },
  ];
  return isBoosted ? [...ranges, { filter: { isBoosted: false }, sort: BY_SCORE }] : ranges;
}

/** Returns a position after which this one comes next. */
export function justBefore(position: ListPosition): ListPosition {
  return { ...position, publicId: position.publicId + 1 };
}
