import type { Database } from '@app/database';
import type { mongo } from 'mongoose';

/** MongoDB's profile of a query that it has run. */
export interface ProfiledQuery {
  command: { find?: string; aggregate?: string; skip?: number; projection?: object };
  planSummary: string;
  keysExamined: number;
  docsExamined: number;
  nreturned: number;
  hasSortStage?: boolean;
}

const PROFILE_BYTES = 64 * 1024 * 1024;

/**
 * Turns on MongoDB's profiler for a database.
 *
 * @returns a function that returns the queries since its last call
 * @see https://www.mongodb.com/docs/manual/reference/database-profiler/
 */
export async function profile(database: Database): Promise<() => Promise<ProfiledQuery[]>> {
  const { db } = database.connection;
  if (db === undefined) throw new Error('the database is not connected');
  await db.createCollection('system.profile', { capped: true, size: PROFILE_BYTES });
  await db.command({ profile: 2 });
  const profiles = db.collection<ProfiledQuery>('system.profile');
  const isQuery = { $or: [{ 'command.find': { $exists: true } }, { 'command.aggregate': { $exists: true } }] };
  // Neither reads the data: a change stream reads the oplog.
  const isOther = ['$changeStream', '$collStats'].map((stage) => ({
    [`command.pipeline.${stage}`]: { $exists: true },
  }));
  const filter = { ns: { $ne: profiles.namespace }, $nor: isOther, ...isQuery };
  // Continues after what it has returned. Without one, each call would read the whole profile again.
  const open = (): mongo.FindCursor<ProfiledQuery> => profiles.find(filter, { tailable: true, batchSize: 1000 });
  let added = open();
  return async () => {
    // MongoDB closes the cursor of an empty result.
    if (added.closed) added = open();
    const queries: ProfiledQuery[] = [];
    for (let next = await added.tryNext(); next !== null; next = await added.tryNext()) queries.push(next);
    return queries;
  };
}
