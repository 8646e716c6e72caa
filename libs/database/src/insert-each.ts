import { mongo } from 'mongoose';
import { isDatabaseAway } from './database-errors.js';

/** Stored means: a majority has it in its journal. Without an answer in time the outcome is unknown. */
export const DURABLY = { writeConcern: { w: 'majority', journal: true, wtimeoutMS: 5000 } } as const;

/** Why one record of a batch was not stored; `taken` names the unique value that another document has. */
export interface InsertFailure {
  index: number;
  taken?: '_id' | 'publicId';
  error: Error;
}

export const DUPLICATE_KEY = 11000;

/**
 * Inserts every record that can be, whatever is wrong with its neighbours; answers why the others were
 * not. A record that cannot be written as BSON makes the driver or the server refuse the whole batch
 * with nothing stored: halving the batch finds it.
 *
 * @throws an error of which `isDatabaseAway` is true when the outcome is unknown, for all of them
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
    if (isDatabaseAway(error)) throw error;
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

/** The server names the index in its message only. */
function takenIn(message: string): Pick<InsertFailure, 'taken'> {
  const [, field] = / index: (_id|publicId)_/.exec(message) ?? [];
  return field === '_id' || field === 'publicId' ? { taken: field } : {};
}
