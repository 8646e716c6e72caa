import { mongo } from 'mongoose';
import { limitsUntil, readUntil } from './query-limits.js';
import type { RawItem } from '../serialization/item-json.js';

/** A query for items, with options of MongoDB's `find` command. */
export interface ItemQuery {
  filter: mongo.Filter<mongo.Document>;
  projection: mongo.Document;
  sort?: Record<string, 1 | -1>;
  hint?: mongo.Hint;
  skip?: number;
  limit?: number;
  /** Overrides the read concern of the connection. */
  readConcern?: { level: mongo.ReadConcernLevel };
}

/** The first items that a query finds, and whether it finds no others. */
export interface FirstItems {
  items: RawItem[];
  areAll: boolean;
}

/** A query finds more bytes of items than its caller accepts. */
export class ItemsTooLarge extends Error {}

/** Makes MongoDB return everything in one batch, unless that is more than 16 MB. */
const ONE_BATCH = { batchSize: 2 ** 31 - 1 };
/** Keeps the documents of a batch as BSON. */
const RAW_BATCH = { fieldsAsRaw: { firstBatch: true } };

/**
 * Returns the first items that a query finds, as BSON: all of them, or those that fit in one batch of MongoDB (16 MB).
 *
 * Sends the command itself, because a cursor of the driver parses every field of each document, even with its option
 * `raw`. The driver does not fetch the other batches of a command.
 *
 * @param deadline in ms of `performance.now()`
 * @throws TimeoutError if the deadline passes before the query has started
 */
export async function findFirstItems(
  { db, collectionName, readConcern }: mongo.Collection,
  query: ItemQuery,
  deadline: number,
): Promise<FirstItems> {
  const concern = readConcern && { readConcern };
  const command = { find: collectionName, ...concern, ...query, ...ONE_BATCH, ...limitsUntil(deadline) };
  const { cursor } = await db.command(command, RAW_BATCH);
  const { id, firstBatch: items } = cursor as { id: number | mongo.Long; firstBatch: RawItem[] };
  if (id === 0) return { items, areAll: true };
  // A cursor that cannot be closed expires.
  await db.command({ killCursors: collectionName, cursors: [mongo.Long.fromValue(id)] }).catch(() => undefined);
  return { items, areAll: false };
}

/**
 * Returns all items that a query finds, as BSON. If there is more than one batch, reads everything again with a cursor.
 *
 * @param deadline in ms of `performance.now()`
 * @param maxBytes applies to items that do not fit in one batch
 * @throws TimeoutError if the deadline passes before a query has started; {@link ItemsTooLarge}
 */
export async function findItems(
  items: mongo.Collection,
  query: ItemQuery,
  deadline: number,
  maxBytes: number,
): Promise<RawItem[]> {
  const first = await findFirstItems(items, query, deadline);
  if (first.areAll) return first.items;
  const { filter, ...options } = query;
  let bytes = 0;
  return readUntil(
    deadline,
    (limits) => items.find<RawItem & mongo.Document>(filter, { ...options, ...ONE_BATCH, ...limits, raw: true }),
    (item: RawItem) => {
      bytes += item.length;
      if (bytes > maxBytes) throw new ItemsTooLarge();
    },
  );
}
