import type { Database } from './connection/database.js';

const PUBLIC_ID = 'item.publicId';
/** No majority write concern: if a failover repeats numbers, the unique index rejects them. */
const TAKE = { upsert: true, returnDocument: 'after', writeConcern: { w: 1 } } as const;
/**
 * Matches numbers that may raise the sequence. Another service may store values of other types. The limit is half of
 * the largest safe integer, so that as many numbers remain after it.
 */
const IN_SEQUENCE = { publicId: { $gte: 1, $lte: 2 ** 52, $not: { $type: 'array' } } };

/** The sequence of `publicId`s. Gaps are allowed. The unique index catches duplicates. */
export class CounterRepository {
  constructor(private readonly database: Database) {}

  /** Takes the next `count` numbers of the sequence and returns the first of them. */
  async takePublicIds(count: number): Promise<number> {
    const counter = await this.database.models.counters
      .findOneAndUpdate({ _id: PUBLIC_ID }, { $inc: { value: count } }, TAKE)
      .lean();
    return counter.value - count + 1;
  }

  /** Raises the sequence to the highest stored number. It may lag behind after a restored backup or a lost primary. */
  async raiseToHighestStored(): Promise<number> {
    const { items, counters } = this.database.models;
    const highest = await items.collection.findOne(IN_SEQUENCE, {
      // The driver may be unable to read the id that another service has stored.
      projection: { _id: 0, publicId: 1 },
      sort: { publicId: -1 },
    });
    const value = Math.ceil(Number(highest?.['publicId'] ?? 0));
    await counters.updateOne({ _id: PUBLIC_ID }, { $max: { value } }, { upsert: true });
    return value;
  }
}
