import { isDeepStrictEqual } from 'node:util';
import type { mongo, Types } from 'mongoose';
import type { Database } from './connection/database.js';
import { partialFailure } from './connection/database-errors.js';
import type { ItemRecord } from './item-record.js';
import { FIRST_TIME, LAST_TIME } from './serialization/item-validator.js';
import { deserializeIfReadable, type RawItem } from './serialization/item-json.js';
import { stringsOnly } from './serialization/projection.js';

/** The fields that search terms are derived from. */
export type SearchSource = Pick<ItemRecord, 'name' | 'description' | 'brandTitle'>;

/** An item whose search terms are missing or come from older rules. Values other than strings and null are omitted. */
export type StaleItem = { [Field in keyof SearchSource]?: SearchSource[Field] | null } & { _id: Types.ObjectId };

/**
 * A batch ends at this many items, or once it has this many bytes. It is small enough for workers that have a small share
 * of a core: the driver would time out before they had read the response to a larger one.
 */
const BATCH = { items: 100, bytes: 8_388_608 };

/** Converts the end of a boost to a date if possible. MongoDB converts whole numbers of 64 bits only. */
const TO_DATE = {
  $let: {
    vars: { ms: { $convert: { input: '$boostExpiresAt', to: 'long', onError: '$boostExpiresAt' } } },
    in: { $convert: { input: '$$ms', to: 'date', onError: '$boostExpiresAt' } },
  },
};

/**
 * Matches items whose boost ends at a time that is not stored as a date, but can be converted to one that the validator
 * accepts: if it refused one, no boost of any item would be cleared.
 */
const WITH_OTHER_END = {
  boostExpiresAt: { $type: ['string', 'number'] },
  $expr: { $and: [{ $gte: [TO_DATE, FIRST_TIME] }, { $lte: [TO_DATE, LAST_TIME] }] },
};

const SEARCH_FIELDS = stringsOnly('name', 'description', 'brandTitle');

/** Updates stored items for the maintenance job and for `setup`. */
export class MaintenanceRepository {
  constructor(private readonly database: Database) {}

  /** Clears lapsed boosts in batches, the oldest first. Returns how many it cleared. */
  async clearLapsedBoosts(now: Date): Promise<number> {
    // Another service may have stored times of other types, which the range below does not match.
    await this.updateBoosts(WITH_OTHER_END, [{ $set: { boostExpiresAt: TO_DATE } }]);
    return this.updateBoosts({ boostExpiresAt: { $lte: now } }, { $set: { isBoosted: false, boostScore: 0 } });
  }

  /** Updates boosted items that match a filter, in batches, until none does. Returns how many it updated. */
  private async updateBoosts(filter: mongo.Filter<mongo.Document>, update: mongo.Document): Promise<number> {
    const { collection } = this.database.models.items;
    const matching = { isBoosted: true, ...filter };
    const oldest = { projection: { _id: 1 }, sort: { boostExpiresAt: 1 }, limit: BATCH.items, raw: true } as const;
    let updated = 0;
    for (;;) {
      const found = await collection.find<RawItem & mongo.Document>(matching, oldest).toArray();
      const ids = found.flatMap((item) => (deserializeIfReadable(item) as StaleItem | undefined)?._id ?? []);
      if (ids.length === 0) return updated;
      // Another service may have changed an item in the meantime.
      const toUpdate = { ...matching, _id: { $in: ids } };
      updated += (await collection.updateMany(toUpdate, update)).modifiedCount;
      if (found.length < BATCH.items) return updated;
    }
  }

  /**
   * Yields batches of items created before `createdBefore` whose search terms are missing or of an older version. Items
   * without search terms come first. Yields at most `limit` items, or all if it is 0, except for those whose id the
   * driver cannot read.
   */
  async *findStale(searchVersion: number, createdBefore: Date, limit = 0): AsyncGenerator<StaleItem[]> {
    const { collection } = this.database.models.items;
    const filter = { searchVersion: { $not: { $gte: searchVersion } }, createdAt: { $not: { $gte: createdBefore } } };
    let batch: StaleItem[] = [];
    let bytes = 0;
    // Reads no further than the batch: other workers may update the items after it in the meantime.
    const options = { projection: SEARCH_FIELDS, limit, batchSize: BATCH.items, raw: true };
    for await (const raw of collection.find<RawItem & mongo.Document>(filter, options)) {
      const item = deserializeIfReadable(raw) as StaleItem | undefined;
      if (item === undefined) continue;
      batch.push(item);
      bytes += raw.length;
      if (batch.length < BATCH.items && bytes < BATCH.bytes) continue;
      yield batch;
      [batch, bytes] = [[], 0];
    }
    if (batch.length > 0) yield batch;
  }

  /**
   * Stores new search terms. Returns how many of the items are up to date afterwards. An item whose texts have changed
   * in the meantime is marked as stale again. An item that MongoDB cannot index keeps the terms that it has.
   */
  async updateSearchFields(
    updates: { item: StaleItem; fields: Pick<ItemRecord, 'searchTerms' | 'searchVersion'> }[],
  ): Promise<number> {
    const { collection } = this.database.models.items;
    // A filter by `_id` alone needs no query planning. `updateMany` avoids the record that MongoDB keeps of each
    // retryable `updateOne`.
    const operations = updates.map(({ item, fields }) => ({
      updateMany: { filter: { _id: item._id }, update: { $set: fields } },
    }));
    const failed = (await this.apply(operations)).flatMap((index) => updates[index] ?? []);
    // MongoDB cannot index them, for example because another field of the index is an array. They would always fail. The
    // validator refuses even this for a new item that another service has made invalid. The next run tries again.
    await this.apply(
      failed.map(({ item: { _id }, fields: { searchVersion } }) => ({
        updateOne: { filter: { _id }, update: { $set: { searchVersion } } },
      })),
    );
    const sources = new Map(updates.map(({ item }) => [keyOf(item), textsOf(item)]));
    const query = { _id: { $in: updates.map(({ item }) => item._id) } };
    const stored = await collection.find<StaleItem>(query, { projection: SEARCH_FIELDS }).toArray();
    const changed = stored.filter((item) => !isDeepStrictEqual(textsOf(item), sources.get(keyOf(item))));
    // The validator may refuse this too. One refusal would end an `updateMany` of all of them.
    await this.apply(
      changed.map(({ _id }) => ({ updateOne: { filter: { _id }, update: { $unset: { searchVersion: 1 } } } })),
    );
    const outdated = new Set([...changed, ...failed.map(({ item }) => item)].map(keyOf));
    return stored.length - outdated.size;
  }

  /** Updates items independently of each other. Returns the indexes of the updates that MongoDB refused. */
  private async apply(operations: mongo.AnyBulkWriteOperation[]): Promise<number[]> {
    if (operations.length === 0) return [];
    const { collection } = this.database.models.items;
    const writing = collection.bulkWrite(operations, { ordered: false });
    return writing.then(
      () => [],
      (error: unknown) => [partialFailure(error).writeErrors].flat().map(({ index }) => index),
    );
  }
}

/** Another service may have stored an item under an id of any type. */
function keyOf({ _id }: StaleItem): string {
  return JSON.stringify(_id);
}

/** Returns the texts that search terms are derived from. */
function textsOf({ name, description, brandTitle }: StaleItem): unknown[] {
  return [name, description, brandTitle];
}
