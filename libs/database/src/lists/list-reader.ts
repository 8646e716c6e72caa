import { TtlCache } from '@app/runtime';
import type { mongo } from 'mongoose';
import type { Database } from '../connection/database.js';
import { isIndexMissing } from '../connection/database-errors.js';
import type { ItemQuery } from '../connection/find-items.js';
import { findInRanges } from './find-in-ranges.js';
import { encodeCursor } from './list-cursor.js';
import {
  lastInOrder,
  LIST_POSITIONS,
  POSITION_FIELDS,
  positionBefore,
  positionOf,
  type ListPosition,
  type OptionalPosition,
} from './list-position.js';
import { idOf, type RawItem } from '../serialization/item-json.js';
import {
  listFilter,
  indexedLists,
  type Filter,
  type IndexedList,
  type ItemFilter,
  rangesAfter,
  withoutArrays,
} from './list-query.js';
import { LIST_ORDER } from '../models.js';
import { ITEMS } from '../serialization/projection.js';

/** Which part of a list is requested: after a number of items, or after a position. */
export type PageRange<Position> = { limit: number } & ({ skip: number } | { after: Position });

/** A part of a list. It may contain documents that are not valid Items. */
export interface ItemPage {
  items: RawItem[];
  /** The cursor of the last item; undefined if no item follows. */
  nextAfter: string | undefined;
}

/** The most BSON that a query for a page may find: 40 MiB, the most that is sent of one, and the item after it. */
export const MAX_PAGE_BSON_BYTES = 56 * 1024 * 1024;

/** Skipping this many items may be expensive. Each costs a key or, if the index lacks a condition, a document. */
const MANY_TO_SKIP = 500;

/** How many items are counted at most to find the rarest of several conditions. */
const MAX_COUNTED = 10_000;
/** Cached counts may be out of date: they decide only which index a list is read from, never what it contains. */
const CACHE_OPTIONS = { forMs: 60_000, count: 10_000 };
/** Beyond this offset, numbered pages start at a cached position: MongoDB reads the key of each skipped item. */
const SEEK_FROM = 5000;
/** The positions after each multiple of this many items are cached. */
const STEP = 1000;
/** For a short time, because MongoDB does not tell of every write, see {@link Database.writeState}. */
const STEPS_CACHE = { ...CACHE_OPTIONS, forMs: 5000 };

const SNAPSHOT = { readConcern: { level: 'snapshot' } } as const;

/** How many positions are read at first, to find the next item that has one. */
const FEW_POSITIONS = 1000;

/** In place of a position: the list ends before it. */
const END = Symbol('end');

/** Returns whether a part of a list may be expensive: few items may meet several conditions, or many are skipped. */
export function isExpensive(filter: ItemFilter, range: PageRange<unknown>): boolean {
  return indexedLists(filter).length > 1 || ('skip' in range && range.skip >= MANY_TO_SKIP);
}

/** Reads lists of items in the order of an index. Deadlines are in ms of `performance.now()`. */
export class ListReader {
  private readonly counts = new TtlCache<string, number>(CACHE_OPTIONS);
  private readonly positions = new TtlCache<string, { position: OptionalPosition }>(CACHE_OPTIONS);
  private readonly steps = new TtlCache<string, ListPosition | typeof END>(STEPS_CACHE);

  constructor(private readonly database: Database) {}

  /** Returns one part of the list. */
  async findPage(filter: ItemFilter, range: PageRange<ListPosition>, deadline: number): Promise<ItemPage> {
    const list = await this.shortest(indexedLists(filter), deadline);
    const { limit } = range;
    const isWalk = 'after' in range;
    const start = isWalk ? { after: range.after, skip: 0 } : await this.seek(list, filter, range.skip, deadline);
    if (start === END) return { items: [], nextAfter: undefined };
    const { after, skip } = start;
    const groups = after === undefined ? [[{}]] : rangesAfter(after);
    const read = (where: Filter, count: number): Promise<RawItem[]> =>
      this.find(list, { filter: where, ...ITEMS, skip, limit: count }, deadline);
    // One more item shows whether any follow. Items to skip may be in several groups.
    let found = await findInRanges(skip > 0 ? [groups.flat()] : groups, limit + 1, (ranges, count) =>
      read(listFilter(list, filter, ranges), count),
    );
    let remaining = (): Filter => listFilter(list, filter, groups.flat());
    // Without a position to continue after, the next page would be the same.
    if (isWalk && found.length > 0 && firstPosition(found.slice(0, limit)) === undefined) {
      const readable = withoutArrays(remaining());
      remaining = () => readable;
      found = await read(readable, limit + 1);
    }
    const findPositions = (count: number): Promise<RawItem[]> =>
      this.find(
        list,
        { filter: remaining(), projection: { ...POSITION_FIELDS, _id: 1 }, skip, limit: count },
        deadline,
      );
    const part = found.slice(0, limit);
    const last = found.length > limit ? await endOf(part, findPositions) : undefined;
    // An item that moves down the list during the read is found twice.
    const items = [...new Map(part.map((item) => [idOf(item), item])).values()];
    return { items, nextAfter: last && encodeCursor(LIST_POSITIONS, last) };
  }

  /** Returns the position of an item in list order, whether or not lists show it. */
  async findPosition(_id: mongo.ObjectId, deadline: number): Promise<ListPosition | undefined> {
    const [found] = await this.database.findItems({ filter: { _id }, projection: POSITION_FIELDS }, deadline);
    return found && positionOf(found);
  }

  /**
   * Returns the position after which to read a page by number, and how many items to skip from there. Positions are
   * counted again after a write to the items.
   */
  private async seek(
    list: IndexedList,
    filter: ItemFilter,
    skip: number,
    deadline: number,
  ): Promise<{ after?: ListPosition; skip: number } | typeof END> {
    const state = skip < SEEK_FROM ? undefined : await this.database.writeState(deadline);
    if (state === undefined) return { skip };
    const count = skip - (skip % STEP);
    const query = listFilter(list, filter);
    const key = `${state} ${JSON.stringify(query)} ${String(count)}`;
    let after = this.steps.get(key);
    if (after === undefined) {
      // An item with an array may have places before and after a position.
      const arrays = await this.hinted(list, (hint) =>
        this.database.unexpectedArrays({ filter: query, ...hint }, deadline),
      );
      if (arrays.length > 0) return { skip };
      const last = await this.itemAt(list, query, count - 1, deadline);
      after = last === undefined ? END : positionOf(last);
      if (after !== undefined) this.steps.set(key, after);
    }
    if (after === END) return END;
    return after === undefined ? { skip } : { after, skip: skip - count };
  }

  /** Returns the list with the fewest items or, if several are too long to count, the sparsest of them. */
  private async shortest(lists: [IndexedList, ...IndexedList[]], deadline: number): Promise<IndexedList> {
    // Sorted by name, so that the order of the words in a search makes no difference.
    const [first, ...others] = lists.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    if (others.length === 0) return first;
    const counts: number[] = [];
    // One query at a time, so that a search for many words leaves the others to other reads.
    for (const list of lists) counts.push(await this.countOf(list, deadline));
    const least = Math.min(...counts);
    const shortest = lists.filter((_, index) => counts[index] === least);
    if (shortest.length === 1 || least < MAX_COUNTED) return shortest[0] ?? first;
    const positions: OptionalPosition[] = [];
    for (const list of shortest) positions.push(await this.lastCounted(list, deadline));
    return shortest[lastInOrder(positions)] ?? first;
  }

  private async countOf(list: IndexedList, deadline: number): Promise<number> {
    const remembered = this.counts.get(nameOf(list));
    if (remembered !== undefined) return remembered;
    const { collection } = this.database.models.items;
    const stages = [{ $match: listFilter(list, {}) }, { $limit: MAX_COUNTED }, { $count: 'count' }];
    const [found] = await this.hinted(list, (hint) =>
      this.database.readAll(deadline, (limits) =>
        collection.aggregate<{ count: number }>(stages, { ...hint, ...limits }),
      ),
    );
    const count = found?.count ?? 0;
    this.counts.set(nameOf(list), count);
    return count;
  }

  /** Returns the position of the last counted item, from keys alone. It is further back if the condition is rarer. */
  private async lastCounted(list: IndexedList, deadline: number): Promise<OptionalPosition> {
    const remembered = this.positions.get(nameOf(list));
    if (remembered !== undefined) return remembered.position;
    const last = await this.itemAt(list, listFilter(list, {}), MAX_COUNTED - 1, deadline);
    const position = last && positionOf(last);
    this.positions.set(nameOf(list), { position });
    return position;
  }

  /** Returns the item at an index of the list, with the fields of its position only, which are read from keys alone. */
  private async itemAt(
    list: IndexedList,
    filter: Filter,
    index: number,
    deadline: number,
  ): Promise<RawItem | undefined> {
    const [item] = await this.find(list, { filter, projection: POSITION_FIELDS, skip: index, limit: 1 }, deadline);
    return item;
  }

  /** Finds items in list order. */
  private find(list: IndexedList, query: ItemQuery, deadline: number): Promise<RawItem[]> {
    // An item that moves from one part of the index to another during the read would be missed.
    const concern = list.parts && SNAPSHOT;
    return this.hinted(list, (hint) =>
      this.database.findItems({ ...query, sort: LIST_ORDER, ...hint, ...concern }, deadline, MAX_PAGE_BSON_BYTES),
    );
  }

  /** Reads from the index of the list or, while it is missing, lets MongoDB choose. */
  private async hinted<Found>(
    { hint }: IndexedList,
    read: (options: { hint?: IndexedList['hint'] }) => Promise<Found[]>,
  ): Promise<Found[]> {
    try {
      return await read({ hint });
    } catch (error) {
      if (!isIndexMissing(error)) throw error;
      return read({});
    }
  }
}

/** Returns the position after which the next page starts. Documents that other services wrote may have no position. */
async function endOf(
  items: readonly RawItem[],
  findPositions: (count: number) => Promise<RawItem[]>,
): Promise<ListPosition | undefined> {
  const last = firstPosition(items.toReversed());
  if (last !== undefined) return last;
  const onPage = new Set(items.map(idOf));
  // Starts with the items of the page again: an offset would be wrong once some of them are deleted.
  for (let count = FEW_POSITIONS; ; count *= 10) {
    const found = await findPositions(count);
    const next = firstPosition(found.filter((item) => !onPage.has(idOf(item))));
    if (next !== undefined) return positionBefore(next);
    if (found.length < count) return undefined;
  }
}

/** Returns the position of the first of these items that has one. */
function firstPosition(items: readonly RawItem[]): ListPosition | undefined {
  for (const item of items) {
    const position = positionOf(item);
    if (position !== undefined) return position;
  }
  return undefined;
}

function nameOf({ filter }: IndexedList): string {
  return JSON.stringify(filter);
}
