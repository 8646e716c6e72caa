import { ITEM_STATUSES, type ItemStatus } from '@app/contracts';
import type { ItemFilter, ListPosition } from './list-query.js';

/** An item's place in a list: how many come before it, and where it stands in the order. */
export interface Rank {
  rank: number;
  position: ListPosition;
}

/** What decides in which lists an item is, and where. */
export type Listing = ListPosition & { isVisible: boolean; status: ItemStatus; categoryId: number };

interface RankedList {
  filter: ItemFilter;
  ranks: Rank[];
}

/** Those who ask for less than this many ranks behind a known one need no other. */
export const REACH = 500;
const MAX_RANKS = 2000;

/**
 * Places in lists without search that have been counted before, moved on by what has been created since. They are exact
 * as long as every change of the items is told, in its order.
 */
export class KnownRanks {
  private readonly lists = new Map<string, RankedList>();
  private count = 0;

  /** The nearest of the known places at or before this rank, if one is near. */
  nearest(filter: ItemFilter, rank: number): Rank | undefined {
    const near = (this.lists.get(keyOf(filter))?.ranks ?? []).filter(
      (known) => known.rank <= rank && rank - known.rank < REACH,
    );
    return near.sort((one, other) => other.rank - one.rank)[0];
  }

  /** Takes note of a place. */
  learn(filter: ItemFilter, known: Rank): void {
    if (!isComparable(known.position)) return;
    if (this.count >= MAX_RANKS) this.forget();
    const list = this.lists.get(keyOf(filter)) ?? { filter, ranks: [] };
    this.lists.set(keyOf(filter), list);
    if (list.ranks.some(({ rank }) => rank === known.rank)) return;
    list.ranks.push({ ...known });
    this.count++;
  }

  /** An item has been created. */
  created(item: Partial<Listing>): void {
    if (item.isVisible === false) return;
    if (!isListing(item)) {
      this.forget();
      return;
    }
    for (const { filter, ranks } of this.lists.values()) {
      if (!holds(filter, item)) continue;
      for (const known of ranks) if (isBefore(item, known.position)) known.rank++;
    }
  }

  /** The status of an item has changed, to another or from another. */
  statusChanged(): void {
    const everything = this.lists.get(keyOf({}));
    this.forget();
    if (everything === undefined) return;
    this.lists.set(keyOf({}), everything);
    this.count = everything.ranks.length;
  }

  /** Something else has happened, or may have. */
  forget(): void {
    this.lists.clear();
    this.count = 0;
  }
}

function keyOf({ status, categoryId }: ItemFilter): string {
  return `${status ?? ''} ${String(categoryId ?? '')}`;
}

function holds({ status, categoryId }: ItemFilter, item: Listing): boolean {
  return (status ?? item.status) === item.status && (categoryId ?? item.categoryId) === item.categoryId;
}

/** In the order of lists. */
function isBefore(one: ListPosition, other: ListPosition): boolean {
  if (one.isBoosted !== other.isBoosted) return one.isBoosted;
  if (one.boostScore !== other.boostScore) return one.boostScore > other.boostScore;
  const [oneTime, otherTime] = [one.createdAt.getTime(), other.createdAt.getTime()];
  return oneTime === otherTime ? one.publicId > other.publicId : oneTime > otherTime;
}

/** Other services write items too: what is of another type MongoDB sorts elsewhere. */
function isComparable({ isBoosted, boostScore, createdAt, publicId }: Partial<ListPosition>): boolean {
  return (
    typeof isBoosted === 'boolean' &&
    Number.isFinite(boostScore) &&
    Number.isFinite(publicId) &&
    createdAt instanceof Date &&
    Number.isFinite(createdAt.getTime())
  );
}

function isListing(item: Partial<Listing>): item is Listing {
  const { isVisible, status, categoryId } = item;
  const isListed = isVisible === true && ITEM_STATUSES.some((known) => known === status);
  return isListed && Number.isFinite(categoryId) && isComparable(item);
}
