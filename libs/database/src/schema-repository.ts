import type { mongo } from 'mongoose';
import type { Database } from './connection/database.js';
import { hasCode, isIndexMissing } from './connection/database-errors.js';
import { arraysIn, unexpectedArraysIn } from './connection/multikey-index.js';
import { FAVOURITE_VALIDATOR, ITEM_VALIDATOR } from './serialization/item-validator.js';
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

/** What is checked when documents are written, by collection. */
const VALIDATORS: Record<string, object> = { items: ITEM_VALIDATOR, favourites: FAVOURITE_VALIDATOR };
const NAMESPACE_NOT_FOUND = 26;
const INDEX_NOT_FOUND = 27;
const SEARCH_INDEX = nameOf(LIST_INDEXES.search);

/** Manages the indexes of the collections, and the validators of items and favourites. */
export class SchemaRepository {
  constructor(private readonly database: Database) {}

  /**
   * Creates the missing indexes of all collections. Existing indexes keep their storage options. Waits for a majority of
   * the members that have data and vote: by default, MongoDB would wait for all of them, even for those that are down.
   *
   * @throws MongoServerError if a different index has the name of one of these
   */
  async createIndexes(): Promise<void> {
    for (const model of Object.values(this.database.models)) await model.createCollection();
    for await (const { collection, fields, options, stored } of this.declaredIndexes()) {
      const { storageEngine: wanted, ...index } = { ...options, key: fields } as mongo.IndexDescription;
      const storageEngine = stored === undefined ? wanted : stored.storageEngine;
      const specification = storageEngine === undefined ? index : { ...index, storageEngine };
      await collection.createIndexes([specification], { commitQuorum: 'majority' });
    }
  }

  /** Drops the indexes of earlier versions, which only slow down writes once the others exist. Returns their names. */
  async dropObsoleteIndexes(): Promise<string[]> {
    const { collection } = this.database.models.items;
    const present = await this.indexesOf(collection);
    const obsolete = OBSOLETE_ITEM_INDEXES.filter((name) => present.has(name));
    for (const name of obsolete) await dropIfPresent(collection, name);
    return obsolete;
  }

  /**
   * Drops indexes that are multikey although no document has an array in their fields anymore, except unique ones. MongoDB
   * never reads such an index in order again, and sorts each page of its lists instead. Returns the names of the dropped
   * ones, which {@link createIndexes} builds again, and of those that a document still keeps multikey.
   *
   * @see https://www.mongodb.com/docs/manual/core/indexes/index-types/index-multikey/
   */
  async dropMultikeyIndexes(): Promise<{ dropped: string[]; kept: string[] }> {
    const [dropped, kept]: [string[], string[]] = [[], []];
    for await (const { collection, name, options, stored } of this.declaredIndexes()) {
      if (stored === undefined || options.unique === true) continue;
      const filter = { ...options.partialFilterExpression };
      const plan = await collection.find(filter, { hint: name }).explain('queryPlanner').catch(undefinedIfDropped);
      const paths = unexpectedArraysIn(plan);
      if (paths.length === 0) continue;
      const arrays = { ...filter, $or: arraysIn(paths) };
      const isNeeded = (await collection.countDocuments(arrays, { limit: 1 })) > 0;
      if (!isNeeded) await dropIfPresent(collection, name);
      (isNeeded ? kept : dropped).push(`${collection.name}.${name}`);
    }
    return { dropped, kept };
  }

  /**
   * Drops the search index of an empty database that is about to be filled. If {@link createIndexes} builds it at the
   * end, MongoDB writes it once, in key order. Otherwise it soon outgrows the cache and slows down each insert.
   */
  async postponeSearchIndex(): Promise<void> {
    const { collection } = this.database.models.items;
    if ((await this.isSearchIndexMissing()) || (await collection.countDocuments({}, { limit: 1 })) > 0) return;
    await dropIfPresent(collection, SEARCH_INDEX);
  }

  /** Returns whether searches read all items, because the search index was postponed and has not been built since. */
  async isSearchIndexMissing(): Promise<boolean> {
    return (await this.missingIndexes()).performance.includes(`items.${SEARCH_INDEX}`);
  }

  /**
   * Turns MongoDB's validation of items and favourites on or off, for writes by any service. Existing invalid documents
   * can still be updated. Does nothing if validation is already in that state.
   *
   * @throws MongoServerError with code 13 if the user may not change the collections
   */
  async validateWrites(isOn: boolean): Promise<void> {
    const { db } = this.database.connection;
    for (const [name, wanted] of Object.entries(VALIDATORS)) {
      const validator = isOn ? wanted : {};
      const [collection] = (await db?.listCollections({ name }).toArray()) ?? [];
      const present: unknown = (collection as mongo.CollectionInfo | undefined)?.options?.validator ?? {};
      if (JSON.stringify(present) === JSON.stringify(validator)) continue;
      await db?.command({ collMod: name, validator, validationLevel: 'moderate', validationAction: 'error' });
    }
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
  private async indexesOf(collection: Pick<mongo.Collection, 'listIndexes'>): Promise<Map<string, StoredIndex>> {
    try {
      const indexes = (await this.database.read(collection.listIndexes().toArray())) as StoredIndex[];
      return new Map(indexes.map((index) => [index.name, index]));
    } catch (error) {
      if (hasCode(error, NAMESPACE_NOT_FOUND)) return new Map();
      throw error;
    }
  }
}

/** Drops an index that another setup or import may have dropped in the meantime. */
async function dropIfPresent(collection: Pick<mongo.Collection, 'dropIndex'>, name: string): Promise<void> {
  await collection.dropIndex(name).catch((error: unknown) => {
    if (!hasCode(error, INDEX_NOT_FOUND)) throw error;
  });
}

/** Returns undefined as the plan of a query whose index another setup has dropped in the meantime. */
function undefinedIfDropped(error: unknown): undefined {
  if (!isIndexMissing(error)) throw error;
}

/** Returns the name that MongoDB gives an index by default. */
function nameOf(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .map(([field, direction]) => `${field}_${String(direction)}`)
    .join('_');
}
