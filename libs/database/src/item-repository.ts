import { ITEM_STATUSES, type ItemStatus } from '@app/contracts';
import type { mongo, PipelineStage, Types } from 'mongoose';
import type { Database } from './database.js';
import { GatheredReads } from './gathered-reads.js';
import { DURABLY, insertEach, type InsertFailure } from './insert-each.js';
import { idOf, type RawItem } from './item-json.js';
import type { ItemRecord } from './item-record.js';
import { LIST_ORDER } from './models.js';
import { mongoId } from './mongo-id.js';

type Filter = mongo.Filter<mongo.Document>;

/** Which items a list holds; what is absent does not restrict it. */
export interface ItemFilter {
  status?: ItemStatus | undefined;
  categoryId?: number | undefined;
  /** Search terms, each of which an item must have; empty = no search. */
  terms?: string[] | undefined;
}

/** Which part of a list is asked for: behind an item of it, or after a number of items. */
export type Window<Position> = { limit: number } & ({ skip: number } | { after: Position });

/** An item's place in the order of lists. */
export type ListPosition = Pick<ItemRecord, keyof typeof LIST_ORDER>;

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

/** Reads and inserts items. All reads but those by id leave hidden items out. */
export class ItemRepository {
  private readonly byId = new GatheredReads((ids) => this.findByIds(ids));

  constructor(private readonly database: Database) {}

  /** One part of the list in its order. */
  async findPage(filter: ItemFilter, window: Window<ListPosition>): Promise<RawItem[]> {
    const matching = visibleMatching(filter);
    if ('skip' in window) return this.findInOrder(matching, window.limit, window.skip);
    // One range of the index after the other: as one $or they would all be read and sorted.
    const page: RawItem[] = [];
    for (const range of rangesBehind(window.after)) {
      if (page.length === window.limit) break;
      page.push(...(await this.findInOrder({ ...matching, ...range }, window.limit - page.length)));
    }
    return page;
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
          pipeline: [{ $match: visibleMatching(filter) }, { $project: ANSWERED_FIELDS }],
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
    const fields = { _id: 0, isBoosted: 1, boostScore: 1, createdAt: 1, publicId: 1 } as const;
    const found = this.database.models.items.findById(mongoId(id), fields);
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

  private async findInOrder(query: Filter, limit: number, skip = 0): Promise<RawItem[]> {
    const { collection } = this.database.models.items;
    const options = { projection: ANSWERED_FIELDS, sort: LIST_ORDER, skip, limit, ...RAW };
    return this.database.readAll(() => collection.find<RawItem>(query, options));
  }
}

function visibleMatching({ status, categoryId, terms = [] }: ItemFilter): Filter {
  return {
    isVisible: true,
    // All statuses by name, so that the index that begins with the status serves this list too.
    status: status ?? { $in: [...ITEM_STATUSES] },
    ...(categoryId === undefined ? {} : { categoryId }),
    ...(terms.length === 0 ? {} : { searchTerms: { $all: terms } }),
  };
}

/** The items behind a position: a range for each field of the order, of those that are equal in the fields before it. */
function rangesBehind({ isBoosted, boostScore, createdAt, publicId }: ListPosition): Filter[] {
  const ranges: Filter[] = [
    { isBoosted, boostScore, createdAt, publicId: { $lt: publicId } },
    { isBoosted, boostScore, createdAt: { $lt: createdAt } },
    { isBoosted, boostScore: { $lt: boostScore } },
  ];
  return isBoosted ? [...ranges, { isBoosted: false }] : ranges;
}

function behindFavourite({ itemId, createdAt }: FavouritePosition): PipelineStage.Match['$match'] {
  return { $or: [{ createdAt: { $lt: createdAt } }, { createdAt, itemId: { $lt: itemId } }] };
}
