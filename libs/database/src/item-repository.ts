import { setImmediate as nextTurn } from 'node:timers/promises';
import { ItemIdSchema, type ItemWithoutUrl } from '@app/contracts';
import { BatchLoader, splitByBytes, type FoundValues } from '@app/runtime';
import type { mongo } from 'mongoose';
import type { Database } from './connection/database.js';
import type { ItemQuery } from './connection/find-items.js';
import { DURABLE_WRITE, insertEach, type InsertFailure } from './insert-each.js';
import type { ItemRecord } from './item-record.js';
import { FAVOURITE_POSITIONS, FavouritesReader, type FavouritePosition } from './lists/favourites-reader.js';
import { decodeCursor, type PositionKind } from './lists/list-cursor.js';
import { LIST_POSITIONS, type ListPosition } from './lists/list-position.js';
import type { ItemFilter } from './lists/list-query.js';
import { ListReader, type ItemPage, type PageRange } from './lists/list-reader.js';
import { mongoId } from './mongo-id.js';
import { deserialize, idOf, valuesOf, type RawItem } from './serialization/item-json.js';
import { MalformedItem, toItemWithoutUrl } from './serialization/plain-item.js';
import { ITEMS } from './serialization/projection.js';

/** Which part of a list is requested: after a number of items, or after a cursor or the id of an item. */
export type PageRequest = { limit: number } & ({ skip: number } | { after: string });

/** A part of the list, or of a user's favourites, that can be read. */
export type ListPart =
  { userId: undefined; range: PageRange<ListPosition> } | { userId: string; range: PageRange<FavouritePosition> };

/** An item that a majority has stored. */
export interface StoredCreate {
  id: string;
  /** The hash of the request that created it; empty if another service has changed it. */
  requestHash: string;
  /** Undefined if another service has changed the document so that it is not a valid Item. */
  item: ItemWithoutUrl | undefined;
}

/** How stored creates are read. */
const MAJORITY = { readConcern: { level: 'majority' } } as const;
const HASHES = { ...MAJORITY, projection: { requestHash: 1 } };
const CREATES = { ...MAJORITY, projection: { ...ITEMS.projection, ...HASHES.projection } };
/** How many bytes are converted before other work runs. */
const BYTES_PER_TURN = 128 * 1024;

/** Reads and inserts items. Only reads by id return hidden items. Deadlines are in ms of `performance.now()`. */
export class ItemRepository {
  private readonly byId = new BatchLoader((ids, deadline) => this.findByIds(ids, ITEMS, deadline));
  private readonly hashes = new BatchLoader((ids, deadline) => this.findByIds(ids, HASHES, deadline));
  private readonly creates = new BatchLoader(async (ids, deadline) => {
    const { values, areAll } = await this.findByIds(ids, CREATES, deadline);
    return { values: await this.toStoredCreates(values), areAll };
  });
  private readonly lists: ListReader;
  private readonly favourites: FavouritesReader;

  /** @param onMalformed called for each stored create that is not a valid Item */
  constructor(
    private readonly database: Database,
    private readonly onMalformed: (error: MalformedItem) => void = () => undefined,
  ) {
    this.lists = new ListReader(database);
    this.favourites = new FavouritesReader(database);
  }

  /**
   * Returns the requested part of the list or, with a user id, of a user's favourites. Returns undefined if `after` is not
   * a position in it.
   *
   * @throws TimeoutError at the deadline
   */
  async findPart(userId: string | undefined, request: PageRequest, deadline: number): Promise<ListPart | undefined> {
    if (userId === undefined) {
      const range = await toRange(LIST_POSITIONS, request, (id) => this.lists.findPosition(id, deadline));
      return range && { userId, range };
    }
    const find = (id: mongo.ObjectId) => this.favourites.findPosition(userId, id, deadline);
    const range = await toRange(FAVOURITE_POSITIONS, request, find);
    return range && { userId, range };
  }

  /**
   * Returns the items of a part that match a filter: in list order, or the most recently favourited first.
   *
   * @throws TimeoutError at the deadline; ItemsTooLarge
   */
  async findPage({ userId, range }: ListPart, filter: ItemFilter, deadline: number): Promise<ItemPage> {
    return userId === undefined
      ? this.lists.findPage(filter, range, deadline)
      : this.favourites.findPage(userId, filter, range, deadline);
  }

  /**
   * Returns the item with this id, hidden or not.
   *
   * @throws TimeoutError at the deadline
   */
  async findById(id: string, deadline: number): Promise<RawItem | undefined> {
    return this.byId.load(id, deadline);
  }

  /** Returns the ids that belong to items. */
  async findStoredIds(ids: readonly string[]): Promise<Set<string>> {
    const found = await this.database.models.items.find({ _id: { $in: ids.map(mongoId) } }, { _id: 1 }).lean();
    return new Set(found.map(({ _id }) => _id.toHexString()));
  }

  /**
   * Returns the hash of the request that created an item, or undefined if no majority of the replica set has stored it.
   * The hash is empty if the document has none. Concurrent calls share queries.
   *
   * @throws TimeoutError at the deadline
   */
  async findRequestHash(id: string, deadline: number): Promise<string | undefined> {
    const item = await this.hashes.load(id, deadline);
    return item && hashIn(item);
  }

  /**
   * Returns the item if a majority of the replica set has stored it. Concurrent calls share queries. It may be much larger
   * than the request: compare the hash first.
   *
   * @throws TimeoutError at the deadline
   */
  findStoredById(id: string, deadline: number): Promise<StoredCreate | undefined> {
    return this.creates.load(id, deadline);
  }

  /**
   * Returns the items that a majority of the replica set has stored.
   *
   * @throws TimeoutError at the deadline
   */
  async findStored(ids: readonly string[], deadline: number): Promise<StoredCreate[]> {
    const found = await Promise.all(ids.map((id) => this.findStoredById(id, deadline)));
    return found.filter((create) => create !== undefined);
  }

  /**
   * Stores new items durably, each independently of the others. Returns which were not stored, and why.
   *
   * @throws an error for which `isDatabaseUnavailable` returns true if the outcome is unknown
   */
  async insertMany(records: readonly ItemRecord[]): Promise<InsertFailure[]> {
    const { collection } = this.database.models.items;
    return insertEach(records, (batch) => collection.insertMany(batch, { ordered: false, ...DURABLE_WRITE }));
  }

  /** Returns all of these items, or as many as one query returns. */
  private async findByIds(
    ids: readonly string[],
    fields: Pick<ItemQuery, 'projection' | 'readConcern'>,
    deadline: number,
  ): Promise<FoundValues<RawItem>> {
    const filter = { _id: { $in: ids.map(mongoId) } };
    const { items, areAll } = await this.database.findFirstItems({ filter, ...fields }, deadline);
    return { values: new Map(items.map((item) => [idOf(item), item])), areAll };
  }

  /** Converts items in several turns of the event loop: those that another service has made large take a long time. */
  private async toStoredCreates(items: ReadonlyMap<string, RawItem>): Promise<Map<string, StoredCreate>> {
    const now = new Date();
    const creates = new Map<string, StoredCreate>();
    for (const part of splitByBytes([...items], ([, item]) => item.length, BYTES_PER_TURN)) {
      if (creates.size > 0) await nextTurn();
      for (const [id, item] of part) creates.set(id, this.toStoredCreate(id, item, now));
    }
    return creates;
  }

  private toStoredCreate(id: string, stored: RawItem, now: Date): StoredCreate {
    const create = { id, requestHash: hashIn(stored) };
    try {
      return { ...create, item: toItemWithoutUrl(deserialize(stored), now) };
    } catch (error) {
      if (!(error instanceof MalformedItem)) throw error;
      this.onMalformed(error);
      return { ...create, item: undefined };
    }
  }
}

/** Returns the hash of the request that created an item; empty if there is none, which no request has. */
function hashIn(item: RawItem): string {
  const [hash] = valuesOf(item, ['requestHash']);
  return typeof hash === 'string' ? hash : '';
}

async function toRange<Position>(
  kind: PositionKind<Position>,
  request: PageRequest,
  find: (id: mongo.ObjectId) => Promise<Position | undefined>,
): Promise<PageRange<Position> | undefined> {
  if (!('after' in request)) return request;
  const isId = ItemIdSchema.safeParse(request.after).success;
  const after = isId ? await find(mongoId(request.after)) : decodeCursor(kind, request.after);
  return after && { limit: request.limit, after };
}
