import type { mongo } from 'mongoose';
import type { Database } from './database.js';
import { ITEM_VALIDATOR } from './serialization/item-validator.js';
import { OBSOLETE_ITEM_INDEXES, LIST_INDEXES } from './models.js';

/** Names of indexes that `createIndexes` has not created yet. */
export interface MissingIndexes {
  /** Without these, creating items is not safe: duplicates could be stored. */
  unique: string[];
  /** Without these, everything works, but slowly. */
  performance: string[];
}

interface StoredIndex {
  name: string;
  /** The storage options, if the index was created with any. */
  storageEngine?: object;
}

const NAMESPACE_NOT_FOUND = 26;
const SEARCH_INDEX = nameOf(LIST_INDEXES.search);

/** Manages the indexes of the collections, and the validator of items. */
export class SchemaRepository {
  constructor(private readonly database: Database) {}

  /**
   * Creates the missing indexes of all collections. Existing indexes keep their storage options.
   *
   * @throws MongoServerError if a different index has the name of one of these
   */
  async createIndexes(): Promise<void> {
    for (const model of Object.values(this.database.models)) await model.createCollection();
    for await (const { collection, fields, options, stored } of this.declaredIndexes()) {
      const { storageEngine: wanted, ...index } = { ...options, key: fields } as mongo.IndexDescription;
      const storageEngine = stored === undefined ? wanted : stored.storageEngine;
      await collection.createIndexes([storageEngine === undefined ? index : { ...index, storageEngine }]);
    }
  }

  /** Drops the indexes of earlier versions, which only slow down writes once the others exist. Returns their names. */
  async dropObsoleteIndexes(): Promise<string[]> {
    const { collection } = this.database.models.items;
    const present = await this.indexesOf(collection);
    const obsolete = OBSOLETE_ITEM_INDEXES.filter((name) => present.has(name));
    for (const name of obsolete) await collection.dropIndex(name);
    return obsolete;
  }

  /**
   * Drops the search index of an empty database that is about to be filled. If {@link createIndexes} builds it at the
   * end, MongoDB writes it once, in key order. Otherwise it soon outgrows the cache and slows down each insert.
   */
  async postponeSearchIndex(): Promise<void> {
    const { items } = this.database.models;
    if ((await this.isSearchIndexMissing()) || (await items.exists({})) !== null) return;
    await items.collection.dropIndex(SEARCH_INDEX);
  }

  /** Returns whether searches read all items, because the search index was postponed and has not been built since. */
  async isSearchIndexMissing(): Promise<boolean> {
    return (await this.missingIndexes()).performance.includes(`items.${SEARCH_INDEX}`);
  }

  /**
   * Turns MongoDB's validation of items on or off, for writes by any service. Existing invalid items can still be
   * updated. Does nothing if validation is already in that state.
   *
   * @throws MongoServerError with code 13 if the user may not change the collection
   */
  async validateItems(isOn: boolean): Promise<void> {
    const validator = isOn ? ITEM_VALIDATOR : {};
    const { db } = this.database.connection;
    const [items] = (await db?.listCollections({ name: 'items' }).toArray()) ?? [];
    const present: unknown = (items as mongo.CollectionInfo | undefined)?.options?.validator ?? {};
    if (JSON.stringify(present) === JSON.stringify(validator)) return;
    await db?.command({ collMod: 'items', validator, validationLevel: 'moderate', validationAction: 'error' });
  }

  async missingIndexes(): Promise<MissingIndexes> {
    const missing: MissingIndexes = { unique: [], performance: [] };
    for await (const { collection, name, options, stored } of this.declaredIndexes()) {
      if (stored !== undefined) continue;
      missing[options.unique === true ? 'unique' : 'performance'].push(`${collection.name}.${name}`);
    }
    return missing;
  }

  /** Yields every index that the collections need, with the stored index of the same name. */
  private async *declaredIndexes() {
    for (const { collection, schema } of Object.values(this.database.models)) {
      const present = await this.indexesOf(collection);
      for (const [fields, options] of schema.indexes()) {
        const name = nameOf(fields);
        yield { collection, name, fields, options, stored: present.get(name) };
      }
    }
  }

  /** Returns the indexes of a collection by name. */
  private async indexesOf(collection: {
    listIndexes(): { toArray(): Promise<StoredIndex[]> };
  }): Promise<Map<string, StoredIndex>> {
    try {
      const indexes = await this.database.read(collection.listIndexes().toArray());
      return new Map(indexes.map((index) => [index.name, index]));
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === NAMESPACE_NOT_FOUND) return new Map();
      throw error;
    }
  }
}

/** Returns the name that MongoDB gives an index by default. */
function nameOf(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .map(([field, direction]) => `${field}_${String(direction)}`)
    .join('_');
}
