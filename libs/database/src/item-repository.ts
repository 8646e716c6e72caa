import type { PipelineStage, Types } from 'mongoose';
import type { Database } from './database.js';
import { GatheredReads } from './gathered-reads.js';
import { DURABLY, insertEach, type InsertFailure } from './insert-each.js';
import { idOf, type RawItem } from './item-json.js';
import type { ItemRecord } from './item-record.js';
import { matching, POSITION_FIELDS, type ItemFilter, type ListPosition } from './list-query.js';
import { ANSWERED_FIELDS, ListReader, RAW, type Window } from './list-reader.js';
import { mongoId } from './mongo-id.js';

/** An item's place among a user's favourites. */
export interface FavouritePosition {
  itemId: Types.ObjectId;
  createdAt: Date;
}

/** A user's newest favourites count, hidden and deleted items included. */
const MAX_FAVOURITES = 5000;

/** Reads and inserts items. All reads but those by id leave hidden items out. */
export class ItemRepository {
  private readonly byId = new GatheredReads((ids) => this.findByIds(ids));
  private readonly lists: ListReader;

  constructor(private readonly database: Database) {
    this.lists = new ListReader(database);
  }

  /** One part of the list in its order. */
  async findPage(filter: ItemFilter, window: Window<ListPosition>): Promise<RawItem[]> {
    return this.lists.findPage(filter, window);
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

  /** Those of the ids that items have. */
  async findStoredIds(ids: readonly string[]): Promise<Set<string>> {
    const found = await this.database.models.items.find({ _id: { $in: ids.map(mongoId) } }, { _id: 1 }).lean();
    return new Set(found.map(({ _id }) => _id.toHexString()));
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
    const { collection } = this.database.models.items;
    const options = { projection: POSITION_FIELDS, limit: 1 };
    const [found] = await this.database.readAll(() => collection.find<ListPosition>({ _id: mongoId(id) }, options));
    return found ?? null;
  }

  /** Where the item stands among the user's favourites; null when it is none of them. */
  async findFavouritePosition(userId: string, id: string): Promise<FavouritePosition | null> {
    const { collection } = this.database.models.favourites;
    const query = { userId, itemId: mongoId(id) };
    const options = { projection: { _id: 0, itemId: 1, createdAt: 1 }, limit: 1 };
    const [found] = await this.database.readAll(() => collection.find<FavouritePosition>(query, options));
    return found ?? null;
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
}

function behindFavourite({ itemId, createdAt }: FavouritePosition): PipelineStage.Match['$match'] {
  return { $or: [{ createdAt: { $lt: createdAt } }, { createdAt, itemId: { $lt: itemId } }] };
}
