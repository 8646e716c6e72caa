import type { mongo, PipelineStage, Types } from 'mongoose';
import type { Database } from './database.js';
import { isIndexMissing } from './database-errors.js';
import { GatheredReads } from './gathered-reads.js';
import { DURABLY, insertEach, type InsertFailure } from './insert-each.js';
import { idOf, type RawItem } from './item-json.js';
import type { ItemRecord } from './item-record.js';
import {
  listQuery,
  listsToReadFrom,
  matching,
  rangesBehind,
  rangesFrom,
  type IndexedList,
  type ItemFilter,
  type ListPosition,
  type ListQuery,
  type ListRange,
} from './list-query.js';
import { Memory } from './memory.js';
import { LIST_ORDER } from './models.js';
import { mongoId } from './mongo-id.js';

/** Which part of a list is asked for: behind an item of it, or after a number of items. */
export type Window<Position> = { limit: number } & ({ skip: number } | { after: Position });

/** An item's place among a user's favourites. */
export interface FavouritePosition {
  itemId: Types.ObjectId;
  createdAt: Date;
}

/** A user's newest favourites count, hidden and deleted items included. */
const MAX_FAVOURITES = 5000;

/** What is only answered need not be made into objects. */
const RAW = { raw: true } as const;

const ANSWERED_FIELDS = { requestHash: 0, searchTerms: 0, searchVersion: 0 } as const;

const POSITION_FIELDS = { _id: 0, isBoosted: 1, boostScore: 1, createdAt: 1, publicId: 1 } as const;

/** From so many items on, passing over them by their keys first is faster than one query that looks at each. */
const MANY_TO_SKIP = 500;

/** Up to how many items are counted to find out which of several conditions the fewest of them fulfil. */
const COUNTED = 10_000;
/** Such a count may be old: it decides where a list is read from, never what is in it. */
const COUNTS_REMEMBERED = { forMs: 60_000, count: 10_000 };

/** Reads and inserts items. All reads but those by id leave hidden items out. */
export class ItemRepository {
  private readonly byId = new GatheredReads((ids) => this.findByIds(ids));
  private readonly counts = new Memory<string, number>(COUNTS_REMEMBERED);

  constructor(private readonly database: Database) {}

  /** Whether items are being read to be answered. */
  get isReading(): boolean {
    return this.database.isReading;
  }

  /** One part of the list in its order. */
  async findPage(filter: ItemFilter, window: Window<ListPosition>): Promise<RawItem[]> {
    const query = await this.queryOf(filter);
    if ('after' in window) return this.findInRanges(query, rangesBehind(window.after), window.limit);
    const { limit, skip } = window;
    if (skip < MANY_TO_SKIP || !query.isCovered)
      return this.find(query, { projection: ANSWERED_FIELDS, sort: LIST_ORDER, skip, limit, ...RAW });
    const [start] = await this.find<ListPosition>(query, {
      projection: POSITION_FIELDS,
      sort: LIST_ORDER,
      skip,
      limit: 1,
    });
    return start === undefined ? [] : this.findInRanges(query, rangesFrom(start), limit);
  }

  /** One part of a user's favourites, the most recently favourited first. */
  async findFavouritesPage(userId: string, filter: ItemFilter, window: Window<FavouritePosition>): Promise<RawItem[]> {
    const stages: PipelineStage[] = [
      { $match: { userId } },
      { $sort: { createdAt: -1, itemId: -1 } },
      { $limit: MAX_FAVOURITES },
      { $project: { _id: 0, itemId: 1, createdAt: 1 } },
      ...('after' in window ? [{ $match: behindFavourite(window.after) }] : []),
      {
        $lookup: {
          from: this.database.models.items.collection.name,
          localField: 'itemId',
          foreignField: '_id',
          pipeline: [{ $match: matching(filter) }, { $project: ANSWERED_FIELDS }],
          as: 'item',
        },
      },
      { $unwind: '$item' },
      ...('skip' in window ? [{ $skip: window.skip }] : []),
      { $limit: window.limit },
      { $replaceRoot: { newRoot: '$item' } },
    ];
    const { collection } = this.database.models.favourites;
    return this.database.readAll(() => collection.aggregate<RawItem>(stages, RAW));
  }

  /** The item with this id, hidden or not. */
  async findById(id: string): Promise<RawItem | undefined> {
    return this.byId.ask(id);
  }

  /** Those of the items that are stored for good, complete: a majority of the replica set has them. */
  async findStored(ids: readonly string[]): Promise<ItemRecord[]> {
    const found = this.database.models.items
      .find({ _id: { $in: ids.map(mongoId) } })
      .read('primary')
      .readConcern('majority');
    return this.database.read(found.lean<ItemRecord[]>());
  }

  /** Where the item stands in lists, whether or not it is shown in them; null when there is none. */
  async findListPosition(id: string): Promise<ListPosition | null> {
    const found = this.database.models.items.findById(mongoId(id), POSITION_FIELDS);
    return this.database.read(found.lean<ListPosition>());
  }

  /** Where the item stands among the user's favourites; null when it is none of them. */
  async findFavouritePosition(userId: string, id: string): Promise<FavouritePosition | null> {
    const itemId = mongoId(id);
    const found = this.database.models.favourites.findOne({ userId, itemId }, { _id: 0, itemId: 1, createdAt: 1 });
    return this.database.read(found.lean<FavouritePosition>());
  }

  /**
   * Stores new items durably, each whatever becomes of the others; answers which were not, and why.
   *
   * @throws an error of which `isDatabaseAway` is true when the outcome is unknown
   */
  async insertMany(records: readonly ItemRecord[]): Promise<InsertFailure[]> {
    const { collection } = this.database.models.items;
    return insertEach(records, (batch) => collection.insertMany([...batch], { ordered: false, ...DURABLY }));
  }

  private async findByIds(ids: readonly string[]): Promise<Map<string, RawItem>> {
    const { collection } = this.database.models.items;
    const query = { _id: { $in: ids.map(mongoId) } };
    const options = { projection: ANSWERED_FIELDS, ...RAW };
    const items = await this.database.readAll(() => collection.find<RawItem>(query, options));
    return new Map(items.map((item) => [idOf(item), item]));
  }

  /** The list, read from whichever of its conditions the fewest items fulfil. */
  private async queryOf(filter: ItemFilter): Promise<ListQuery> {
    const lists = listsToReadFrom(filter);
    return listQuery(lists.length === 1 ? lists[0] : await this.shortest(lists), filter);
  }

  private async shortest(lists: [IndexedList, ...IndexedList[]]): Promise<IndexedList> {
    const counts = await Promise.all(lists.map((list) => this.countOf(list)));
    return lists[counts.indexOf(Math.min(...counts))] ?? lists[0];
  }

  private async countOf({ hint, filter }: IndexedList): Promise<number> {
    const key = JSON.stringify(filter);
    const remembered = this.counts.get(key);
    if (remembered !== undefined) return remembered;
    const { collection } = this.database.models.items;
    const stages = [{ $match: filter }, { $limit: COUNTED }, { $count: 'count' }];
    const [found] = await this.hinted(hint, (options) => collection.aggregate<{ count: number }>(stages, options));
    const count = found?.count ?? 0;
    this.counts.set(key, count);
    return count;
  }

  /** One range of the index after the other: as one `$or` they would all be read and sorted. */
  private async findInRanges(query: ListQuery, ranges: ListRange[], limit: number): Promise<RawItem[]> {
    const page: RawItem[] = [];
    for (const { filter, sort } of ranges) {
      if (page.length === limit) break;
      const range = { ...query, filter: { ...query.filter, ...filter } };
      const options = { projection: ANSWERED_FIELDS, sort, limit: limit - page.length, ...RAW };
      page.push(...(await this.find<RawItem>(range, options)));
    }
    return page;
  }

  private async find<Found>({ hint, filter }: ListQuery, options: mongo.FindOptions): Promise<Found[]> {
    const { collection } = this.database.models.items;
    return this.hinted(hint, (hinted) => collection.find<Found & mongo.Document>(filter, { ...options, ...hinted }));
  }

  /** Reads from this index or, while it is missing, from whatever there is. */
  private async hinted<Found>(
    hint: IndexedList['hint'],
    query: (options: { hint?: IndexedList['hint'] }) => mongo.AbstractCursor<Found>,
  ): Promise<Found[]> {
    try {
      return await this.database.readAll(() => query({ hint }));
    } catch (error) {
      if (!isIndexMissing(error)) throw error;
      return this.database.readAll(() => query({}));
    }
  }
}

function behindFavourite({ itemId, createdAt }: FavouritePosition): PipelineStage.Match['$match'] {
  return { $or: [{ createdAt: { $lt: createdAt } }, { createdAt, itemId: { $lt: itemId } }] };
}
