import type { Database } from './database.js';

const PUBLIC_ID = 'item.publicId';
/** Numbers that a lost primary has given out are given out again, and are then found to be taken: no need to wait. */
const TAKE = { upsert: true, returnDocument: 'after', writeConcern: { w: 1 } } as const;

/** The sequence of `publicId`s. Gaps are allowed, repeats are caught by the unique index. */
export class CounterRepository {
  constructor(private readonly database: Database) {}

  /** Takes the next `count` numbers of the sequence; answers the first of them. */
  async takePublicIds(count: number): Promise<number> {
    const counter = await this.database.models.counters
      .findOneAndUpdate({ _id: PUBLIC_ID }, { $inc: { value: count } }, TAKE)
      .orFail()
      .lean();
    return counter.value - count + 1;
  }

  /** Raises the sequence to the highest number stored: after a restored backup or a lost primary it lags behind. */
  async raiseToHighestStored(): Promise<number> {
    const { items, counters } = this.database.models;
    const highest = await items.findOne({}, { publicId: 1 }).sort({ publicId: -1 }).lean();
    const value = highest?.publicId ?? 0;
    await counters.updateOne({ _id: PUBLIC_ID }, { $max: { value } }, { upsert: true });
    return value;
  }
}
