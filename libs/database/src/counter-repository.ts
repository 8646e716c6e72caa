import type { Database } from './connection/database.js';

const PUBLIC_ID = 'item.publicId';
/** No majority write concern: if a failover repeats numbers, the unique index rejects them. */
const TAKE = { upsert: true, returnDocument: 'after', writeConcern: { w: 1 } } as const;

/** The sequence of `publicId`s. Gaps are allowed. The unique index catches duplicates. */
export class CounterRepository {
  constructor(private readonly database: Database) {}

  /** Takes the next `count` numbers of the sequence and returns the first of them. */
  async takePublicIds(count: number): Promise<number> {
    const counter = await this.database.models.counters
      .findOneAndUpdate({ _id: PUBLIC_ID }, { $inc: { value: count } }, TAKE)
      .orFail()
      .lean();
    return counter.value - count + 1;
  }

  /** Raises the sequence to the highest stored number. It may lag behind after a restored backup or a lost primary. */
  async raiseToHighestStored(): Promise<number> {
    const { items, counters } = this.database.models;
    const highest = await items.findOne({}, { publicId: 1 }).sort({ publicId: -1 }).lean();
    const value = highest?.publicId ?? 0;
    await counters.updateOne({ _id: PUBLIC_ID }, { $max: { value } }, { upsert: true });
    return value;
  }
}
