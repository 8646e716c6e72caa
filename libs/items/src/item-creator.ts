import type { SitelessItem } from '@app/contracts';
import {
  isDuplicateKey,
  toSitelessItem,
  type CounterRepository,
  type ItemRecord,
  type ItemRepository,
  type ReferenceRepository,
} from '@app/database';
import { newItemRecord, type CreateRequest } from './new-item-record.js';

/** Times a number of the sequence may turn out to be taken before creating is given up. */
const MAX_TAKEN_NUMBERS = 3;

/** Turns a validated create into a stored item. */
export class ItemCreator {
  constructor(
    private readonly items: ItemRepository,
    private readonly references: ReferenceRepository,
    private readonly counters: CounterRepository,
  ) {}

  /**
   * Stores the item durably and answers it as stored. Creating the same id again, also at the same
   * time, stores nothing and answers the item that is there.
   *
   * @throws an error of which `isDatabaseAway` is true when the outcome is unknown: create it again
   */
  async create(request: CreateRequest): Promise<SitelessItem> {
    const { brandId, conditionId } = request.item;
    const [brandTitle, condition] = await Promise.all([
      this.references.findBrandTitle(brandId),
      this.references.findConditionTitle(conditionId),
    ]);
    for (let tries = 1; ; tries++) {
      const publicId = await this.counters.takePublicIds(1);
      const record = newItemRecord(request, { publicId, brandTitle, condition, now: new Date() });
      try {
        return await this.insert(record);
      } catch (error) {
        // The sequence lags behind the items, as after a restored backup.
        if (!isDuplicateKey(error, 'publicId') || tries >= MAX_TAKEN_NUMBERS) throw error;
        await this.counters.raiseToHighestStored();
      }
    }
  }

  private async insert(record: ItemRecord): Promise<SitelessItem> {
    try {
      await this.items.insert(record);
      return toSitelessItem(record, new Date());
    } catch (error) {
      if (!isDuplicateKey(error, '_id')) throw error;
      // A majority read: the first insert may have been seen by no other member yet.
      const [stored] = await this.items.findStored([record._id.toHexString()]);
      if (stored === undefined) throw error;
      return toSitelessItem(stored, new Date());
    }
  }
}
