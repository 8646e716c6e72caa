import { mongo, type Types } from 'mongoose';
import type { Database } from './database.js';
import type { ItemRecord } from './item-record.js';
import { mongoId } from './mongo-id.js';

/** What search terms are derived from. */
export type SearchSource = Pick<ItemRecord, 'name' | 'description' | 'brandTitle'>;

/** An item whose search terms are missing or were made by older rules. */
export type StaleItem = SearchSource & { _id: Types.ObjectId; searchVersion?: number };

/** Items of a batch, and bytes of their texts. */
const BATCH = { items: 500, bytes: 8_388_608 };

const SEARCH_FIELDS = { name: 1, description: 1, brandTitle: 1, searchVersion: 1 } as const;

/** What the maintenance job and `setup` bring up to date in stored items. */
export class MaintenanceRepository {
  constructor(private readonly database: Database) {}

  /** Ends the boosts whose time is over; answers how many there were. */
  async clearLapsedBoosts(now: Date): Promise<number> {
    const lapsed = { isBoosted: true, boostExpiresAt: { $lte: now } };
    const { modifiedCount } = await this.database.models.items.updateMany(lapsed, {
      $set: { isBoosted: false, boostScore: 0 },
    });
    return modifiedCount;
  }

  /** The items created before `createdBefore` whose search terms are missing or not of this version, in batches. */
  findStale(searchVersion: number, createdBefore: Date): AsyncGenerator<StaleItem[]> {
    const createdAt = { $lt: createdBefore };
    return this.findBatches({
      $or: [
        { searchVersion: null, createdAt },
        { searchVersion: { $lt: searchVersion }, createdAt },
      ],
    });
  }

  /** Those of the items that have no search terms, in batches. */
  findUnindexed(ids: readonly string[]): AsyncGenerator<StaleItem[]> {
    return this.findBatches({ _id: { $in: ids.map(mongoId) }, searchVersion: null });
  }

  /**
   * Stores new search terms, except where what they were derived from has changed in the meantime;
   * answers how many were stored.
   */
  async updateSearchFields(
    updates: { item: StaleItem; fields: Pick<ItemRecord, 'searchTerms' | 'searchVersion'> }[],
  ): Promise<number> {
    const { modifiedCount } = await this.database.models.items.collection.bulkWrite(
      updates.map(({ item, fields }) => ({
        updateOne: {
          filter: {
            _id: item._id,
            name: item.name,
            description: item.description,
            brandTitle: item.brandTitle ?? null,
            searchVersion: item.searchVersion ?? null,
          },
          update: { $set: fields },
          // Else MongoDB would try the other indexes too, for each of them.
          hint: { _id: 1 },
        },
      })),
      { ordered: false },
    );
    return modifiedCount;
  }

  private async *findBatches(filter: object): AsyncGenerator<StaleItem[]> {
    const { collection } = this.database.models.items;
    let batch: StaleItem[] = [];
    let bytes = 0;
    for await (const item of collection.find<StaleItem>(filter, { projection: SEARCH_FIELDS })) {
      batch.push(item);
      bytes += mongo.BSON.calculateObjectSize(item);
      if (batch.length < BATCH.items && bytes < BATCH.bytes) continue;
      yield batch;
      [batch, bytes] = [[], 0];
    }
    if (batch.length > 0) yield batch;
  }
}
