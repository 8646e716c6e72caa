import { mongo } from 'mongoose';
import type { Database } from './database.js';
import { idOf, type RawItem } from './item-json.js';
import type { FavouritePosition } from './list-cursor.js';
import { matching, type ItemFilter } from './list-query.js';
import type { Page, Window } from './list-reader.js';
import { RAW_ITEMS } from './projection.js';

/** A user's newest favourites count, hidden and deleted items included. */
const MAX_FAVOURITES = 5000;
/** Items that are looked at with one query once the first page's worth was not enough. */
const CHUNK = 500;

const POSITION_FIELDS = { _id: 0, itemId: 1, createdAt: 1 } as const;
const ORDER = { createdAt: -1, itemId: -1 } as const;
const RAW_IDS = { projection: { _id: 1 }, raw: true } as const;

/** Reads users' favourites, the most recently favourited first. Deadlines are in ms of `performance.now()`. */
export class FavouritesReader {
  constructor(private readonly database: Database) {}

  /** Returns one part of a user's favourites. */
  async findPage(
    userId: string,
    filter: ItemFilter,
    window: Window<FavouritePosition>,
    deadline: number,
  ): Promise<Page<FavouritePosition>> {
    const favourites = await this.findFavourites(userId, window, deadline);
    const { limit } = window;
    const skip = 'skip' in window ? window.skip : 0;
    const found: RawItem[] = [];
    let size = limit + 1;
    for (let start = 0; start < favourites.length && found.length <= skip + limit; start += size, size = CHUNK) {
      const ids = favourites.slice(start, start + size).map(({ itemId }) => itemId);
      // Of what comes before the page only the number counts.
      const options = found.length + ids.length <= skip ? RAW_IDS : RAW_ITEMS;
      found.push(...(await this.findItems(ids, filter, options, deadline)));
    }
    const items = found.slice(skip, skip + limit);
    const lastId = items.at(-1);
    const hasMore = found.length > skip + limit && lastId !== undefined;
    const last = hasMore ? favourites.find(({ itemId }) => itemId.toHexString() === idOf(lastId)) : undefined;
    return { items, last };
  }

  /** Returns the position of an item among the user's favourites, or undefined when it is none of them. */
  async findPosition(userId: string, itemId: mongo.ObjectId, deadline: number): Promise<FavouritePosition | undefined> {
    const { collection } = this.database.models.favourites;
    const options = { projection: POSITION_FIELDS, limit: 1 };
    const [found] = await this.database.readAll(deadline, (limits) =>
      collection.find<FavouritePosition>({ userId, itemId }, { ...options, ...limits }),
    );
    return found;
  }

  /** Those after the position, if one is given; read from the index alone. */
  private async findFavourites(
    userId: string,
    window: Window<FavouritePosition>,
    deadline: number,
  ): Promise<FavouritePosition[]> {
    const { collection } = this.database.models.favourites;
    const options = { projection: POSITION_FIELDS, sort: ORDER, limit: MAX_FAVOURITES, batchSize: MAX_FAVOURITES + 1 };
    const favourites = await this.database.readAll(deadline, (limits) =>
      collection.find<FavouritePosition>({ userId }, { ...options, ...limits }),
    );
    return favourites.filter(
      (favourite) => isPosition(favourite) && (!('after' in window) || isAfter(favourite, window.after)),
    );
  }

  /** Those of the items that match, in the order of the ids. */
  private async findItems(
    ids: mongo.ObjectId[],
    filter: ItemFilter,
    options: mongo.FindOptions,
    deadline: number,
  ): Promise<RawItem[]> {
    const { collection } = this.database.models.items;
    const query = { ...matching(filter), _id: { $in: ids } };
    const found = await this.database.readAll(deadline, (limits) =>
      collection.find<RawItem>(query, { ...options, hint: { _id: 1 }, batchSize: ids.length + 1, ...limits }),
    );
    const byId = new Map(found.map((item) => [idOf(item), item]));
    return ids.flatMap((id) => byId.get(id.toHexString()) ?? []);
  }
}

/** Another service writes favourites. */
function isPosition({ itemId, createdAt }: Partial<FavouritePosition>): boolean {
  return itemId instanceof mongo.ObjectId && createdAt instanceof Date;
}

function isAfter({ itemId, createdAt }: FavouritePosition, position: FavouritePosition): boolean {
  const [time, positionTime] = [createdAt.getTime(), position.createdAt.getTime()];
  return time === positionTime ? itemId.toHexString() < position.itemId.toHexString() : time < positionTime;
}
