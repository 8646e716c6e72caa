import type { mongo } from 'mongoose';
import type { Database } from './database.js';
import { ITEM_VALIDATOR } from './item-validator.js';
import { FORMER_ITEM_INDEXES, LIST_INDEXES } from './models.js';

/** Names of indexes that `createIndexes` has yet to make. */
export interface MissingIndexes {
  /** Without these nothing may be created: items could be doubled. */
  unique: string[];
  /** Without these everything works, slowly. */
  performance: string[];
}

interface StoredIndex {
  name: string;
  /** How it is stored, where that was asked for. */
  storageEngine?: object;
}

const NAMESPACE_NOT_FOUND = 26;
const SEARCH_INDEX = nameOf(LIST_INDEXES.search);

/** Indexes of the collections. */
export class SchemaRepository {
  constructor(private readonly database: Database) {}

  /**
   * Creates what is missing of all collections' indexes; does nothing when all are there, however they are stored.
   *
   * @throws MongoServerError when an index has the name of one of these and is another
   */
  async createIndexes(): Promise<void> {
    for (const model of Object.values(this.database.models)) await model.createCollection();
    for await (const { collection, fields, options, stored } of this.declaredIndexes()) {
      const { storageEngine: wanted, ...index } = { ...options, key: fields } as mongo.IndexDescription;
      const storageEngine = stored === undefined ? wanted : stored.storageEngine;
      await collection.createIndexes([storageEngine === undefined ? index : { ...index, storageEngine }]);
    }
  }

  /** Removes the indexes of earlier versions, which only cost writes once all others are there; answers their names. */
  async dropFormerIndexes(): Promise<string[]> {
    const { collection } = this.database.models.items;
    const present = await this.indexesOf(collection);
    const former = FORMER_ITEM_INDEXES.filter((name) => present.has(name));
    for (const name of former) await collection.dropIndex(name);
    return former;
  }

  /**
   * Removes the index of search from an empty database that is about to be filled: built at the end, by
   * {@link createIndexes}, it is written once, in its order; kept up to date it is larger than the cache long before a
   * million items and slows each insert down.
   */
  async postponeSearchIndex(): Promise<void> {
    const { items } = this.database.models;
    if ((await this.isSearchIndexMissing()) || (await items.exists({})) !== null) return;
    await items.collection.dropIndex(SEARCH_INDEX);
  }

  /** Whether searches read all items: the index was postponed and not built since. */
  async isSearchIndexMissing(): Promise<boolean> {
    return (await this.missingIndexes()).performance.includes(`items.${SEARCH_INDEX}`);
  }

  /**
   * Has MongoDB check each item that is written, by whomever, or has it check nothing. Items that do not conform already may
   * still be updated. Does nothing where that is so already.
   *
   * @throws MongoServerError of code 13 when the user may not change the collection
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

  /** All that the collections are to have, each with what is stored under its name. */
  private async *declaredIndexes() {
    for (const { collection, schema } of Object.values(this.database.models)) {
      const present = await this.indexesOf(collection);
      for (const [fields, options] of schema.indexes()) {
        const name = nameOf(fields);
        yield { collection, name, fields, options, stored: present.get(name) };
      }
    }
  }

  /** Those that a collection has, by name. */
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

/** The name MongoDB gives an index by itself. */
function nameOf(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .map(([field, direction]) => `${field}_${String(direction)}`)
    .join('_');
}
