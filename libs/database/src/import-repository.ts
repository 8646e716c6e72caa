import { mongo } from 'mongoose';
import type { Database } from './connection/database.js';
import { partialFailure } from './connection/database-errors.js';
import { DURABLE_WRITE, insertEach, type InsertFailure } from './insert-each.js';
import type { ItemRecord } from './item-record.js';
import type { CategoryRecord, TitleRecord } from './models.js';
import { deserializeIfReadable, type RawItem } from './serialization/item-json.js';
import { toNumber } from './serialization/plain-item.js';

/** The kinds of records that items refer to by number. */
export type ReferenceKind = 'categories' | 'brands' | 'conditions';

/** Where items store a copy of a title. Unsetting `outdated` makes the backfill derive the search terms again. */
const COPIES = {
  brands: { number: 'brandId', title: 'brandTitle', outdated: { searchVersion: 1 } },
  conditions: { number: 'conditionId', title: 'condition', outdated: undefined },
} as const;

const RENAMES_PER_WRITE = 1000;

/** Imports the records that items refer to. */
export class ImportRepository {
  constructor(private readonly database: Database) {}

  /**
   * Inserts or updates each row by its number. Returns how many records were changed, and which rows were rejected.
   */
  async upsert(
    kind: ReferenceKind,
    rows: readonly (CategoryRecord | TitleRecord)[],
  ): Promise<{ changed: number; failures: InsertFailure[] }> {
    const collection = this.database.connection.collection<CategoryRecord | TitleRecord>(kind);
    let changed = 0;
    const failures = await insertEach(rows, async (batch) => {
      const operations = batch.map(({ _id, ...fields }) => ({
        updateOne: { filter: { _id }, update: { $set: fields }, upsert: true },
      }));
      const count = (result: mongo.BulkWriteResult): void => {
        changed += result.modifiedCount + result.upsertedCount;
      };
      await collection.bulkWrite(operations, { ordered: false, ...DURABLE_WRITE }).then(count, (error: unknown) => {
        // The other rows of the batch are stored.
        if (error instanceof mongo.MongoBulkWriteError) count(error.result);
        throw error;
      });
    });
    return { changed, failures };
  }

  /**
   * Updates the titles in items of these brands or conditions. Returns how many items were changed. Reads all items
   * once: an index by brand would slow down every create for the sake of a rare operation. An item that the validator
   * rejects, because another service has made it invalid, keeps its title. After `stop` is aborted, reads no further
   * items and updates those that it has read.
   */
  async renameInItems(
    kind: 'brands' | 'conditions',
    titles: ReadonlyMap<number, string>,
    stop: AbortSignal,
  ): Promise<number> {
    const { collection } = this.database.models.items;
    const { number, title, outdated } = COPIES[kind];
    const projection = { [number]: 1, [title]: 1 };
    let renamed = 0;
    let renames: mongo.AnyBulkWriteOperation[] = [];
    const write = async (): Promise<void> => {
      if (renames.length === 0) return;
      const writing = collection.bulkWrite(renames, { ordered: false, ...DURABLE_WRITE });
      renamed += (await writing.catch((error: unknown) => partialFailure(error).result)).modifiedCount;
      renames = [];
    };
    const items = collection.find<RawItem & mongo.Document>({ [number]: { $ne: null } }, { projection, raw: true });
    for await (const raw of items) {
      if (stop.aborted) break;
      const item = deserializeIfReadable(raw) as (Record<string, unknown> & Pick<ItemRecord, '_id'>) | undefined;
      if (item === undefined) continue;
      const newTitle = titles.get(toNumber(item[number]) ?? NaN);
      if (newTitle === undefined || newTitle === item[title]) continue;
      const update = { $set: { [title]: newTitle }, ...(outdated === undefined ? {} : { $unset: outdated }) };
      renames.push({ updateOne: { filter: { _id: item._id, [number]: item[number] }, update, hint: { _id: 1 } } });
      if (renames.length === RENAMES_PER_WRITE) await write();
    }
    await write();
    return renamed;
  }
}
