import type { mongo } from 'mongoose';
import type { Database } from './database.js';
import { isIndexMissing } from './database-errors.js';
import { furthestBack, type Place } from './furthest-back.js';
import { ItemChanges } from './item-changes.js';
import type { RawItem } from './item-json.js';
import { KnownRanks, REACH, type Rank } from './known-ranks.js';
import {
  boundsBehind,
  justBefore,
  listQuery,
  listsToReadFrom,
  POSITION_FIELDS,
  rangesBehind,
  type IndexedList,
  type ItemFilter,
  type ListPosition,
  type ListQuery,
  type ListRange,
} from './list-query.js';
import { Memory } from './memory.js';
import { LIST_ORDER } from './models.js';

/** Which part of a list is asked for: behind an item of it, or after a number of items. */
export type Window<Position> = { limit: number } & ({ skip: number } | { after: Position });

export const ANSWERED_FIELDS = { requestHash: 0, searchTerms: 0, searchVersion: 0 } as const;

/** What is only answered need not be made into objects. */
export const RAW = { raw: true } as const;

const ITEMS = { projection: ANSWERED_FIELDS, ...RAW };

/** Of what a majority has, and the primary says, like changes: an item is counted either in a rank or as a change behind it. */
const RANKED = {
  projection: POSITION_FIELDS,
  readConcern: { level: 'majority' },
  readPreference: 'primary',
} as const;

/** From so many items on, passing over them by their keys first is faster than one query that looks at each. */
const MANY_TO_SKIP = 500;
/** A rank is kept of a place so many items before the page: as many may be created until it lies behind the page. */
const BEFORE_PAGE = REACH / 2;
/** With a place so far before the page another one is kept, for the next page. */
const FAR_BEFORE_PAGE = 400;

/** Up to how many items are counted to find out which of several conditions the fewest of them fulfil. */
const COUNTED = 10_000;
/** Such a count may be old: it decides where a list is read from, never what is in it. */
const COUNTS_REMEMBERED = { forMs: 60_000, count: 10_000 };

/** Reads lists of items, each from an index and in its order. */
export class ListReader {
  private readonly counts = new Memory<string, number>(COUNTS_REMEMBERED);
  private readonly places = new Memory<string, Place>(COUNTS_REMEMBERED);
  private readonly ranks = new KnownRanks();
  private readonly changes: ItemChanges;

  constructor(private readonly database: Database) {
    this.changes = new ItemChanges(database, this.ranks);
  }

  /** One part of the list. */
  async findPage(filter: ItemFilter, window: Window<ListPosition>): Promise<RawItem[]> {
    const query = await this.queryOf(filter);
    if ('after' in window) return this.findBehind(query, window.after, window.limit);
    const { limit, skip } = window;
    if (skip < MANY_TO_SKIP || !query.isCovered) return this.find(query, { ...ITEMS, sort: LIST_ORDER, skip, limit });
    const start = await this.positionOf(query, filter, skip);
    return start === undefined ? [] : this.findBehind(query, justBefore(start), limit);
  }

  /** Where the item stands that so many come before. */
  private async positionOf(query: ListQuery, filter: ItemFilter, rank: number): Promise<ListPosition | undefined> {
    const isSearch = (filter.terms ?? []).length > 0;
    if (!isSearch && (await this.changes.catchUp())) return this.positionFromKnown(query, filter, rank);
    const options = { projection: POSITION_FIELDS, sort: LIST_ORDER, skip: rank, limit: 1 };
    return (await this.find<ListPosition>(query, options))[0];
  }

  /** Counted from a known place that is near or, for another time, from the beginning. */
  private async positionFromKnown(
    query: ListQuery,
    filter: ItemFilter,
    rank: number,
  ): Promise<ListPosition | undefined> {
    const { moment } = this.changes;
    const known = this.ranks.nearest(filter, rank);
    const behind = known === undefined ? BEFORE_PAGE : rank - known.rank;
    const limit = behind + 1;
    const positions = await (known === undefined
      ? this.find<ListPosition>(query, { ...RANKED, sort: LIST_ORDER, skip: rank - behind, limit })
      : this.findInRanges<ListPosition>(query, rangesBehind(justBefore(known.position)), limit, RANKED));
    const before = positions[behind - BEFORE_PAGE];
    if (before !== undefined && (known === undefined || behind > FAR_BEFORE_PAGE))
      void this.learn(filter, { rank: rank - BEFORE_PAGE, position: before }, moment);
    return positions[behind];
  }

  /** Unless something has happened since: whether it was counted nobody knows. */
  private async learn(filter: ItemFilter, rank: Rank, moment: number): Promise<void> {
    const isFollowed = await this.changes.catchUp();
    if (isFollowed && this.changes.moment === moment) this.ranks.learn(filter, rank);
  }

  /** The list, read from whichever of its conditions the fewest items fulfil. */
  private async queryOf(filter: ItemFilter): Promise<ListQuery> {
    const lists = listsToReadFrom(filter);
    return listQuery(lists.length === 1 ? lists[0] : await this.shortest(lists), filter);
  }

  private async shortest(lists: [IndexedList, ...IndexedList[]]): Promise<IndexedList> {
    const counts = await Promise.all(lists.map((list) => this.countOf(list)));
    const least = Math.min(...counts);
    const shortest = lists.filter((_, index) => counts[index] === least);
    const isTold = shortest.length === 1 || least < COUNTED;
    const places = await Promise.all(shortest.map((list) => (isTold ? undefined : this.lastCounted(list))));
    const name = furthestBack(new Map(shortest.map((list, index) => [nameOf(list), places[index]])));
    return shortest.find((list) => nameOf(list) === name) ?? lists[0];
  }

  private async countOf(list: IndexedList): Promise<number> {
    const remembered = this.counts.get(nameOf(list));
    if (remembered !== undefined) return remembered;
    const { hint, filter } = list;
    const { collection } = this.database.models.items;
    const stages = [{ $match: filter }, { $limit: COUNTED }, { $count: 'count' }];
    const [found] = await this.hinted(hint, (options) => collection.aggregate<{ count: number }>(stages, options));
    const count = found?.count ?? 0;
    this.counts.set(nameOf(list), count);
    return count;
  }

  /** Where the last item stands that is counted, by keys alone: the rarer what the items fulfil, the further back. */
  private async lastCounted(list: IndexedList): Promise<Place> {
    const remembered = this.places.get(nameOf(list));
    if (remembered !== undefined) return remembered;
    const options = { projection: POSITION_FIELDS, sort: LIST_ORDER, skip: COUNTED - 1, limit: 1 };
    const [place] = await this.find<ListPosition>({ ...list, isCovered: true }, options);
    if (place !== undefined) this.places.set(nameOf(list), place);
    return place;
  }

  /** The items behind a position: from there on in the index where it holds the list in one run, or range after range. */
  private async findBehind(query: ListQuery, position: ListPosition, limit: number): Promise<RawItem[]> {
    const bounds = boundsBehind(query, position);
    const inRanges = async (): Promise<RawItem[]> => this.findInRanges(query, rangesBehind(position), limit, ITEMS);
    return bounds === undefined ? inRanges() : this.find(query, { ...ITEMS, ...bounds, limit }, inRanges);
  }

  /** One range of the index after the other: as one `$or` they would all be read and sorted. */
  private async findInRanges<Found>(
    query: ListQuery,
    ranges: ListRange[],
    limit: number,
    options: mongo.FindOptions,
  ): Promise<Found[]> {
    const found: Found[] = [];
    for (const { filter, sort } of ranges) {
      if (found.length === limit) break;
      const range = { ...query, filter: { ...query.filter, ...filter } };
      found.push(...(await this.find<Found>(range, { ...options, sort, limit: limit - found.length })));
    }
    return found;
  }

  private async find<Found>(
    { hint, filter }: ListQuery,
    options: mongo.FindOptions & { limit: number },
    withoutIndex?: () => Promise<Found[]>,
  ): Promise<Found[]> {
    const { collection } = this.database.models.items;
    const inOneAnswer = { ...options, batchSize: options.limit };
    return this.hinted<Found>(
      hint,
      (hinted) => collection.find<Found & mongo.Document>(filter, { ...inOneAnswer, ...hinted }),
      withoutIndex,
    );
  }

  /** Reads from this index or, while it is missing, from whatever there is, in this way or in another. */
  private async hinted<Found>(
    hint: IndexedList['hint'],
    query: (options: { hint?: IndexedList['hint'] }) => mongo.AbstractCursor<Found>,
    withoutIndex = async (): Promise<Found[]> => this.database.readAll(() => query({})),
  ): Promise<Found[]> {
    try {
      return await this.database.readAll(() => query({ hint }));
    } catch (error) {
      if (!isIndexMissing(error)) throw error;
      return withoutIndex();
    }
  }
}

function nameOf({ filter }: IndexedList): string {
  return JSON.stringify(filter);
}
