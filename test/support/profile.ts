import type { Database } from '@app/database';

/** What MongoDB says about a query that it has answered. */
export interface ProfiledQuery {
  command: { find?: string; aggregate?: string; skip?: number };
  planSummary: string;
  keysExamined: number;
  docsExamined: number;
  nreturned: number;
  hasSortStage?: boolean;
}

const ROOM_BYTES = 64 * 1024 * 1024;

/** Has MongoDB's own profiler watch a database; what is answered gives the queries sent since it was last asked. */
export async function profile(database: Database): Promise<() => Promise<ProfiledQuery[]>> {
  const { db } = database.connection;
  if (db === undefined) throw new Error('the database is not connected');
  await db.createCollection('system.profile', { capped: true, size: ROOM_BYTES });
  await db.command({ profile: 2 });
  const seen = db.collection<ProfiledQuery>('system.profile');
  const isQuery = { $or: [{ 'command.find': { $exists: true } }, { 'command.aggregate': { $exists: true } }] };
  // Following changes reads MongoDB's log of them.
  const ofData = { ns: { $ne: seen.namespace }, 'command.pipeline.$changeStream': { $exists: false }, ...isQuery };
  let known = 0;
  return async () => {
    const queries = await seen.find(ofData).skip(known).toArray();
    known += queries.length;
    return queries;
  };
}
