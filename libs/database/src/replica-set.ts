import { mongo } from 'mongoose';

const ALREADY_INITIALIZED = 23;

/** The only member of a replica set, and the name of the set with which its mongod was started. */
export interface ReplicaSetMember {
  set: string;
  /** `host:port` at which all clients reach it. */
  host: string;
}

/**
 * Initiates a replica set with a new mongod as its only member. Does nothing if that was done before.
 *
 * @throws if mongod does not respond
 */
export async function initiateReplicaSet({ set, host }: ReplicaSetMember): Promise<void> {
  const client = new mongo.MongoClient(`mongodb://${host}/?directConnection=true`, { serverSelectionTimeoutMS: 2000 });
  try {
    await client.connect();
    await client.db('admin').command({ replSetInitiate: { _id: set, members: [{ _id: 0, host }] } });
  } catch (error) {
    if (!(error instanceof mongo.MongoServerError && error.code === ALREADY_INITIALIZED)) throw error;
  } finally {
    await client.close();
  }
}
