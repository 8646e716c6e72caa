import { ITEM_VALIDATOR } from './serialization/item-validator.js';
import type { Database } from './connection/database.js';
import { MalformedItem, readItem } from './serialization/plain-item.js';
import { ITEMS } from './serialization/projection.js';

/** A stored document that is not as the service would have written it. */
export interface NonConforming {
  id: string;
  /** The first field that makes it an invalid Item; undefined if it can be converted to a valid one. */
  field: string | undefined;
}

/** Finds items that are not as the service would have written them. */
export class ConformityRepository {
  constructor(private readonly database: Database) {}

  /** Yields the items that are not valid, then those with other BSON types than the service writes. Reads all items. */
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
