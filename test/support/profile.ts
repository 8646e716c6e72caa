import type { Database } from '@app/database';

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
  let returned = 0;
  return async () => {
    const queries = await profiles.find(filter).skip(returned).toArray();
    returned += queries.length;
    return queries;
  };
}
