import { ITEM_VALIDATOR } from './item-validator.js';
import type { Database } from './database.js';
import { MalformedItem, toSitelessItem } from './plain-item.js';
import { ITEMS } from './projection.js';

/** A stored document that is not as the service would have written it. */
export interface NonConforming {
  id: string;
  /** The first field that keeps it from being an Item; undefined when it is answered all the same. */
  field: string | undefined;
}

/** Finds items that other services have written otherwise. */
export class ConformityRepository {
  constructor(private readonly database: Database) {}

  /** Returns those that cannot be an Item, and those that have other BSON types than the service writes. Reads all items. */
  async *findNonConforming(): AsyncGenerator<NonConforming> {
    const { collection } = this.database.models.items;
    const now = new Date();
    const seen = new Set<string>();
    for await (const document of collection.find({}, ITEMS)) {
      const field = malformedFieldOf(document, now);
      if (field === undefined) continue;
      seen.add(String(document._id));
      yield { id: String(document._id), field };
    }
    for await (const { _id } of collection.find({ $nor: [ITEM_VALIDATOR] }, { projection: { _id: 1 } }))
      if (!seen.has(String(_id))) yield { id: String(_id), field: undefined };
  }
}

function malformedFieldOf(document: object, now: Date): string | undefined {
  try {
    toSitelessItem(document, now);
    return undefined;
  } catch (error) {
    if (error instanceof MalformedItem) return error.field;
    throw error;
  }
}
