import { ITEM_VALIDATOR } from './item-validator.js';
import type { Database } from './database.js';
import { MalformedItem, readItem } from './plain-item.js';
import { ITEMS } from './projection.js';

/** A stored document that is not as the service would have written it. */
export interface NonConforming {
  id: string;
  /** The first field that keeps it from being an Item; undefined when it is answered all the same. */
  field: string | undefined;
}

/** Finds items that are not as the service would have written them. */
export class ConformityRepository {
  constructor(private readonly database: Database) {}

  /** Returns those that cannot be an Item, and those that have other BSON types than the service writes. Reads all items. */
  async *findNonConforming(): AsyncGenerator<NonConforming> {
    const { collection } = this.database.models.items;
    const now = new Date();
    for await (const document of collection.find({}, ITEMS)) {
      const item = readItem(document, now);
      if (item instanceof MalformedItem) yield { id: item.id, field: item.field };
    }
    for await (const document of collection.find({ $nor: [ITEM_VALIDATOR] }, ITEMS))
      if (!(readItem(document, now) instanceof MalformedItem)) yield { id: String(document._id), field: undefined };
  }
}
