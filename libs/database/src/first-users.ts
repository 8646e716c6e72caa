import { ConfigError } from '@app/runtime';
import { mongo } from 'mongoose';
import type { ReplicaSetMember } from './replica-set.js';

const UNAUTHORIZED = 13;
const AUTHENTICATION_FAILED = 18;
const ALREADY_INITIALIZED = 23;
const USER_EXISTS = 51_003;

/** URIs with the names and passwords of users. */
export interface FirstUsers {
  /** May do everything. */
  admin: string;
  /** May use the database of its URI only. */
  service: string;
}

/**
 * Initiates a replica set with a new mongod on this machine as its only member, and creates its first users. Does
 * nothing if that was done before. A mongod that has no users accepts this only from its own machine
 * (https://www.mongodb.com/docs/manual/core/localhost-exception/).
 *
 * @throws ConfigError if mongod has an administrator with another name or password; another error if it does not respond
 *   or is not the primary yet
 */
export async function createFirstUsers({ set, host }: ReplicaSetMember, users: FirstUsers): Promise<void> {
  const local = `mongodb://127.0.0.1:${host.replace(/.*:/, '')}/?directConnection=true`;
  await withClient(local, async (client) => {
    const initiate = { replSetInitiate: { _id: set, members: [{ _id: 0, host }] } };
    await run(client, initiate, [ALREADY_INITIALIZED, UNAUTHORIZED]);
    const { username, password } = credentialsOf(users.admin);
    const createAdmin = { createUser: username, pwd: password, roles: ['root'] };
    // Unauthorized: the administrator exists.
    await run(client, createAdmin, [USER_EXISTS, UNAUTHORIZED]);
  });
  await withClient(users.admin, async (client) => {
    const { username, password, db } = credentialsOf(users.service);
    const roles = ['readWrite', 'dbAdmin'].map((role) => ({ role, db }));
    await run(client, { createUser: username, pwd: password, roles }, [USER_EXISTS]);
  });
}

function credentialsOf(uri: string): { username: string; password: string; db: string } {
  const { credentials, dbName: db } = new mongo.MongoClient(uri).options;
  if (credentials === undefined) throw new ConfigError('The URIs of the users must have names and passwords');
  return { username: credentials.username, password: credentials.password, db };
}

async function withClient(uri: string, use: (client: mongo.MongoClient) => Promise<void>): Promise<void> {
  const client = new mongo.MongoClient(uri, { serverSelectionTimeoutMS: 2000 });
  try {
    await client.connect();
    await use(client);
  } catch (error) {
    if (error instanceof mongo.MongoServerError && error.code === AUTHENTICATION_FAILED)
      throw new ConfigError('MongoDB refuses the administrator: its name or password is another one');
    throw error;
  } finally {
    await client.close();
  }
}

/** Runs an administrative command, unless an error with one of these codes says that its effect is there. */
async function run(client: mongo.MongoClient, command: mongo.Document, done: readonly number[]): Promise<void> {
  try {
    await client.db('admin').command(command);
  } catch (error) {
    if (!(error instanceof mongo.MongoServerError && done.includes(Number(error.code)))) throw error;
  }
}
