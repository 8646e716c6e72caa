import type { Database } from './database.js';

/** Names of indexes that `createIndexes` has yet to make. */
export interface MissingIndexes {
  /** Without these nothing may be created: items could be doubled. */
  unique: string[];
  /** Without these everything works, slowly. */
  performance: string[];
}

const NAMESPACE_NOT_FOUND = 26;

/** Indexes of the collections. */
export class SchemaRepository {
  constructor(private readonly database: Database) {}

  /** Creates what is missing of all collections' indexes; does nothing when all are there. */
  async createIndexes(): Promise<void> {
    for (const model of Object.values(this.database.models)) {
      await model.createCollection();
      await model.createIndexes();
    }
  }

  async missingIndexes(): Promise<MissingIndexes> {
    const missing: MissingIndexes = { unique: [], performance: [] };
    for (const model of Object.values(this.database.models)) {
      const present = await this.indexesOf(model.collection);
      for (const [fields, options] of model.schema.indexes()) {
        const name = nameOf(fields);
        if (present.has(name)) continue;
        missing[options.unique === true ? 'unique' : 'performance'].push(`${model.collection.name}.${name}`);
      }
    }
    return missing;
  }

  private async indexesOf(collection: {
    listIndexes(): { toArray(): Promise<{ name: string }[]> };
  }): Promise<Set<string>> {
    try {
      const indexes = await this.database.read(collection.listIndexes().toArray());
      return new Set(indexes.map(({ name }) => name));
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === NAMESPACE_NOT_FOUND) return new Set();
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
