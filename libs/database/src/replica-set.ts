import { mongo } from 'mongoose';

const ALREADY_INITIALIZED = 23;

/** The one member of a replica set, and the name of the set that its mongod was started with. */
export interface ReplicaSetMember {
  set: string;
  /** `host:port` at which all clients reach it. */
  host: string;
}

/**
 * Makes a fresh mongod the only member of its replica set; does nothing where that was done before.
 *
 * @throws when mongod does not answer
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
