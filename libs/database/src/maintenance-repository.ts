import type { Types } from 'mongoose';
import type { Database } from './database.js';
import type { ItemRecord } from './item-record.js';

/** What search terms are derived from. */
export type SearchSource = Pick<ItemRecord, 'name' | 'description' | 'brandTitle'>;

/** An item whose search terms are missing or were made by older rules. */
export type StaleItem = SearchSource & { _id: Types.ObjectId; searchVersion?: number };

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

  /** Up to `limit` items whose search terms are not of this version. */
  async findStale(searchVersion: number, limit: number): Promise<StaleItem[]> {
    const fields = { name: 1, description: 1, brandTitle: 1, searchVersion: 1 } as const;
    return this.database.models.items
      .find({ $or: [{ searchVersion: null }, { searchVersion: { $lt: searchVersion } }] }, fields)
      .limit(limit)
      .lean<StaleItem[]>();
  }

  /**
   * Stores new search terms, except where what they were derived from has changed in the meantime;
   * answers how many were stored.
   */
  async updateSearchTerms(updates: { item: StaleItem; terms: string[] }[], searchVersion: number): Promise<number> {
    const { modifiedCount } = await this.database.models.items.collection.bulkWrite(
      updates.map(({ item, terms }) => ({
        updateOne: {
          filter: {
            _id: item._id,
            name: item.name,
            description: item.description,
            brandTitle: item.brandTitle ?? null,
            searchVersion: item.searchVersion ?? null,
          },
          update: { $set: { searchTerms: terms, searchVersion } },
        },
      })),
      { ordered: false },
    );
    return modifiedCount;
  }
}
