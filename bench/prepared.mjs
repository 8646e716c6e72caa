import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes requests to a file, for the load generator to draw from.
 * @param {string} folder
 * @param {string} name of the file
 * @param {{operation: 'getById' | 'getAll', inputs: object[]}} requests
 * @returns {string} the path of the file
 */
export function prepare(folder, name, requests) {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(requests));
  return file;
}

/** Returns the ids of `size` random items, as inputs of getById. */
export async function randomIds(db, size) {
  const stages = [{ $sample: { size } }, { $project: { _id: 1 } }];
  const found = await db.collection('items').aggregate(stages, { allowDiskUse: true }).toArray();
  return found.map(({ _id }) => ({ id: _id.toHexString() }));
}
