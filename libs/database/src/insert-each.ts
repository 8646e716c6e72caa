import { mongo } from 'mongoose';
import { isDatabaseUnavailable } from './connection/database-errors.js';

/** A write counts as stored once a majority has journaled it. Without a response in time, the outcome is unknown. */
export const DURABLE_WRITE = { writeConcern: { w: 'majority', journal: true, wtimeoutMS: 5000 } } as const;

/** Why one record of a batch was not stored. `taken` names the unique field whose value another document has. */
export interface InsertFailure {
  index: number;
  taken?: '_id' | 'publicId';
  error: Error;
}

export const DUPLICATE_KEY = 11000;

/**
 * Inserts every valid record of a batch, and returns why the others were not inserted. A record that cannot be written
 * as BSON makes the driver or the server reject the whole batch, so the batch is halved until that record is alone.
 * Records that an earlier message of a rejected batch has stored are returned with a taken `_id`.
 *
 * @throws an error for which `isDatabaseUnavailable` returns true if the outcome is unknown, for any of the records
 */
export async function insertEach<Stored>(
  records: readonly Stored[],
  insert: (records: readonly Stored[]) => Promise<unknown>,
): Promise<InsertFailure[]> {
  if (records.length === 0) return [];
  try {
    await insert(records);
    return [];
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    const failures = failuresOf(error);
    if (failures.length > 0) return failures;
    if (records.length === 1) return [{ index: 0, error: error as Error }];
  }
  const half = Math.ceil(records.length / 2);
  const first = await insertEach(records.slice(0, half), insert);
  const second = await insertEach(records.slice(half), insert);
  return [...first, ...second.map((failure) => ({ ...failure, index: failure.index + half }))];
}

function failuresOf(error: unknown): InsertFailure[] {
  if (!(error instanceof mongo.MongoBulkWriteError)) return [];
  return [error.writeErrors].flat().map(({ index, code, errmsg }) => ({
    index,
    ...(code === DUPLICATE_KEY ? takenIn(errmsg ?? '') : {}),
    error: new Error(errmsg ?? 'refused by MongoDB'),
  }));
}

/** The driver passes on only the message of the server, which names the index. The rejected values follow. */
function takenIn(message: string): Pick<InsertFailure, 'taken'> {
  const [, field] = / index: (?:(_id|publicId)_)?/.exec(message) ?? [];
  return field === '_id' || field === 'publicId' ? { taken: field } : {};
}
