import type { mongo } from 'mongoose';
import { ITEM_VALIDATOR } from './serialization/item-validator.js';
import type { Database } from './connection/database.js';
import { idOf, malformedIn, type RawItem } from './serialization/item-json.js';
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
    const find = (filter: mongo.Filter<mongo.Document>) =>
      collection.find<RawItem & mongo.Document>(filter, { ...ITEMS, raw: true });
    const now = new Date();
    for await (const document of find({})) {
      const malformed = malformedIn(document, now);
      if (malformed !== undefined) yield malformed;
    }
    for await (const document of find({ $nor: [ITEM_VALIDATOR] }))
      if (malformedIn(document, now) === undefined) yield { id: idOf(document), field: undefined };
  }
}
