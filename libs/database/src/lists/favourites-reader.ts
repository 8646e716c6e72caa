import { mongo } from 'mongoose';
import type { Database } from '../connection/database.js';
import { ItemsTooLarge } from '../connection/find-items.js';
import { arraysIn } from '../connection/multikey-index.js';
import { deserializeIfReadable, idOf, type RawItem } from '../serialization/item-json.js';
import { findInRanges } from './find-in-ranges.js';
import { encodeCursor, type PositionKind } from './list-cursor.js';
import { conditionsOf, type Filter, type ItemFilter } from './list-query.js';
import { MAX_PAGE_BSON_BYTES, type ItemPage, type PageRange } from './list-reader.js';
import { ITEMS } from '../serialization/projection.js';

/** Only this many of a user's newest favourites count, including those of hidden and deleted items. */
const MAX_FAVOURITES = 5000;
/** How many favourites, and their items, are read at a time. */
const CHUNK = 500;

const ORDER = { createdAt: -1, itemId: -1 } as const;
const POSITIONS = { projection: { _id: 0, itemId: 1, createdAt: 1 }, sort: ORDER, raw: true } as const;
const IDS = { projection: { _id: 1 } } as const;

/**
 * Matches favourites that have a position. Another service may write one without a date or an ObjectId. Uses ranges,
 * because MongoDB would have to read the documents for `$type`.
 */
const HAS_POSITION = {
  createdAt: { $gte: new Date(-8.64e15), $lte: new Date(8.64e15) },
  itemId: { $lte: new mongo.ObjectId('f'.repeat(24)) },
};

/** Leaves out arrays, which the ranges match too. MongoDB has to read the documents for this. */
const WITHOUT_ARRAYS = { $nor: arraysIn(['createdAt', 'itemId']) };

/** An item's position among a user's favourites. */
export interface FavouritePosition {
  itemId: mongo.ObjectId;
  createdAt: Date;
}

/** Positions among favourites. The ranges of a query match arrays too, which are not positions. */
export const FAVOURITE_POSITIONS: PositionKind<FavouritePosition> = {
  name: 'favourites',
  toPosition: ({ itemId, createdAt }) =>
    itemId instanceof mongo.ObjectId && createdAt instanceof Date && !Number.isNaN(createdAt.getTime())
      ? { itemId, createdAt }
      : undefined,
};

/** An item among a user's favourites. */
interface Favourite {
  item: RawItem;
  position: FavouritePosition;
}

/** Reads users' favourites, the most recently favourited first. Deadlines are in ms of `performance.now()`. */
export class FavouritesReader {
  constructor(private readonly database: Database) {}

  /** Returns one part of a user's favourites. */
  async findPage(
    userId: string,
    filter: ItemFilter,
    range: PageRange<FavouritePosition>,
    deadline: number,
  ): Promise<ItemPage> {
    const { limit } = range;
    const skip = 'skip' in range ? range.skip : 0;
    let after = 'after' in range ? range.after : undefined;
    let room = MAX_FAVOURITES - (after === undefined ? 0 : await this.countUpTo(userId, after, deadline));
    const found = new Map<string, Favourite>();
    let read = 0;
    while (room > 0 && found.size <= skip + limit) {
      const missing = skip + limit + 1 - found.size;
      // Of the items before the page, and of the one after it, only the ids are needed.
      const idsOnly = missing === 1 ? 1 : Math.max(skip - found.size, 0);
      const likely = Math.ceil((missing * (read + 1)) / (found.size + 1));
      // The page cannot begin before position `skip`.
      const count = Math.min(read < skip ? skip - read : likely, CHUNK, room);
      const positions = await this.findPositions(userId, after, count, deadline);
      const next = await this.findNext(positions, filter, { missing, idsOnly }, deadline);
      // A favourite that moves during the read may be read twice. It keeps its first position, because the cursor must not
      // be further down the list than its place on the page.
      for (const favourite of next.favourites) {
        const id = idOf(favourite.item);
        if (!found.has(id)) found.set(id, favourite);
      }
      after = next.considered.at(-1);
      read += next.considered.length;
      const isEnd = positions.length < count && next.considered.length === positions.length;
      room = isEnd ? 0 : room - next.considered.length;
    }
    const page = [...found.values()].slice(skip, skip + limit);
    const last = found.size > skip + limit ? page.at(-1)?.position : undefined;
    return { items: page.map(({ item }) => item), nextAfter: last && encodeCursor(FAVOURITE_POSITIONS, last) };
  }

  /** Returns the position of an item among the user's favourites, or undefined if it is not one of them. */
  async findPosition(userId: string, itemId: mongo.ObjectId, deadline: number): Promise<FavouritePosition | undefined> {
    const [found] = await this.find({ userId, ...HAS_POSITION, itemId }, 1, deadline);
    return found;
  }

  /** Returns how many of the favourites that count are before a position or at it. */
  private async countUpTo(userId: string, { createdAt, itemId }: FavouritePosition, deadline: number): Promise<number> {
    const newer = { ...HAS_POSITION, createdAt: { ...HAS_POSITION.createdAt, $gt: createdAt } };
    const upTo = [newer, { createdAt, itemId: { ...HAS_POSITION.itemId, $gte: itemId } }];
    const filter = { userId, $or: upTo, ...WITHOUT_ARRAYS };
    const stages = [{ $match: filter }, { $limit: MAX_FAVOURITES }, { $count: 'count' }];
    const { collection } = this.database.models.favourites;
    const [found] = await this.database.readAll(deadline, (limits) =>
      collection.aggregate<{ count: number }>(stages, limits),
    );
    return found?.count ?? 0;
  }

  /** Returns the favourites after a position, or the first ones. */
  private async findPositions(
    userId: string,
    after: FavouritePosition | undefined,
    count: number,
    deadline: number,
  ): Promise<FavouritePosition[]> {
    const ranges: Filter[] =
      after === undefined
        ? [HAS_POSITION]
        : [
            { createdAt: after.createdAt, itemId: { $lt: after.itemId } },
            { ...HAS_POSITION, createdAt: { ...HAS_POSITION.createdAt, $lt: after.createdAt } },
          ];
    return findInRanges(ranges, count, (range, limit) => this.find({ userId, ...range }, limit, deadline));
  }

  /** Returns at most `limit` positions. */
  private async find(
    filter: mongo.Filter<mongo.Document>,
    limit: number,
    deadline: number,
  ): Promise<FavouritePosition[]> {
    const { collection } = this.database.models.favourites;
    const read = (where: mongo.Filter<mongo.Document>): Promise<RawItem[]> =>
      this.database.readAll(deadline, (limits) =>
        collection.find<RawItem & mongo.Document>(where, { ...POSITIONS, limit, batchSize: limit, ...limits }),
      );
    const found = await read(filter);
    const positions = positionsIn(found);
    return positions.length === found.length ? positions : positionsIn(await read({ ...filter, ...WITHOUT_ARRAYS }));
  }

  /**
   * Returns the next favourites that match the filter, and the positions that were considered. Of those, `missing` are
   * needed, and of the first `idsOnly` only the ids. If the items are too large together, reads only those of the page.
   */
  private async findNext(
    positions: readonly FavouritePosition[],
    filter: ItemFilter,
    { missing, idsOnly }: { missing: number; idsOnly: number },
    deadline: number,
  ): Promise<{ favourites: Favourite[]; considered: readonly FavouritePosition[] }> {
    if (idsOnly < positions.length) {
      try {
        return { favourites: await this.findItems(positions, filter, ITEMS, deadline), considered: positions };
      } catch (error) {
        const areAllNeeded = idsOnly === 0 && positions.length <= missing;
        if (areAllNeeded || !(error instanceof ItemsTooLarge)) throw error;
      }
    }
    const matches = (await this.findItems(positions, filter, IDS, deadline)).slice(0, missing);
    const onPage = matches.slice(idsOnly).map(({ position }) => position);
    const favourites = [...matches.slice(0, idsOnly), ...(await this.findItems(onPage, filter, ITEMS, deadline))];
    // If one of them no longer matches, the next read begins after the last of them, and finds another one.
    const last = matches.at(missing - 1);
    return {
      favourites,
      considered: last === undefined ? positions : positions.slice(0, positions.indexOf(last.position) + 1),
    };
  }

  /** Returns the items that match the filter, in the order of their positions. */
  private async findItems(
    positions: readonly FavouritePosition[],
    filter: ItemFilter,
    fields: typeof IDS | typeof ITEMS,
    deadline: number,
  ): Promise<Favourite[]> {
    if (positions.length === 0) return [];
    const favourites = { ...conditionsOf(filter), _id: { $in: positions.map(({ itemId }) => itemId) } };
    const query = { filter: favourites, ...fields, hint: { _id: 1 } };
    const found = await this.database.findItems(query, deadline, MAX_PAGE_BSON_BYTES);
    const byId = new Map(found.map((item) => [idOf(item), item]));
    return positions.flatMap((position) => {
      const item = byId.get(position.itemId.toHexString());
      return item === undefined ? [] : { item, position };
    });
  }
}

/** Returns the positions of favourites. A favourite may contain what the driver cannot read. */
function positionsIn(favourites: readonly RawItem[]): FavouritePosition[] {
  return favourites.flatMap(
    (favourite) => FAVOURITE_POSITIONS.toPosition(deserializeIfReadable(favourite) ?? {}) ?? [],
  );
}
