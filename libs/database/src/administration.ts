import { ConfigError } from '@app/runtime';
import { mongo } from 'mongoose';
import { hasCode } from './connection/database-errors.js';

const UNAUTHORIZED = 13;
const AUTHENTICATION_FAILED = 18;
const ALREADY_INITIALIZED = 23;
const USER_EXISTS = 51_003;
const LIMITS = { serverSelectionTimeoutMS: 2000, socketTimeoutMS: 30_000 };

/** The only member of a replica set, and the name of the set with which its mongod was started. */
export interface ReplicaSetMember {
  set: string;
  /** `host:port` at which all clients reach it. */
  host: string;
}

/** URIs with the names and passwords of users. */
export interface FirstUsers {
  /** May do everything. */
  admin: string;
  /** May use the database of its URI only. */
  service: string;
}

/**
 * Initiates a replica set with a new mongod as its only member. Does nothing if that was done before.
 *
 * @param at where to connect to mongod
 * @param done further error codes that say that it was done before
 * @throws if mongod does not respond
 */
export async function initiateReplicaSet(
  { set, host }: ReplicaSetMember,
  at = host,
  done: readonly number[] = [],
): Promise<void> {
  const command = { replSetInitiate: { _id: set, members: [{ _id: 0, host }] } };
  await runAdminCommand(`mongodb://${at}/?directConnection=true`, command, [ALREADY_INITIALIZED, ...done]);
}

/**
 * Initiates a replica set with a new mongod on this machine as its only member, and creates its first users. Does
 * nothing if that was done before. A mongod that has no users accepts this only from its own machine
 * (https://www.mongodb.com/docs/manual/core/localhost-exception/).
 *
 * @throws ConfigError if a URI cannot be used, or if mongod has an administrator with another name or password; another
 *   error if it does not respond or is not the primary yet
 */
export async function createFirstUsers(member: ReplicaSetMember, users: FirstUsers): Promise<void> {
  const [admin, service] = [credentialsOf(users.admin), credentialsOf(users.service)];
  const local = `127.0.0.1:${member.host.replace(/.*:/, '')}`;
  await initiateReplicaSet(member, local, [UNAUTHORIZED]);
  const createAdmin = { createUser: admin.username, pwd: admin.password, roles: ['root'] };
  // Unauthorized: the administrator exists.
  await runAdminCommand(`mongodb://${local}/?directConnection=true`, createAdmin, [USER_EXISTS, UNAUTHORIZED]);
  const roles = ['readWrite', 'dbAdmin'].map((role) => ({ role, db: service.db }));
  const createService = { createUser: service.username, pwd: service.password, roles };
  try {
    await runAdminCommand(users.admin, createService, [USER_EXISTS]);
  } catch (error) {
    if (!hasCode(error, AUTHENTICATION_FAILED)) throw error;
    throw new ConfigError("MongoDB rejects the administrator's name or password");
  }
}

/** The message of its error omits the URI, because that may contain a password. */
function credentialsOf(uri: string): { username: string; password: string; db: string } {
  const { credentials, dbName: db } = optionsOf(uri);
  if (!credentials?.password) throw new ConfigError('The URIs of the users must have names and passwords');
  return { username: credentials.username, password: credentials.password, db };
}

function optionsOf(uri: string): mongo.MongoOptions {
  try {
    return new mongo.MongoClient(uri).options;
  } catch {
    throw new ConfigError(
      'The URI of the administrator is not valid: it must be mongodb://user:password@host[:port]/database[?options]',
    );
  }
}

/**
 * Runs an administrative command on the servers of a URI. Ignores errors with one of the codes `done`, which mean that it
 * was applied already.
 *
 * @throws if no server responds
 */
async function runAdminCommand(uri: string, command: mongo.Document, done: readonly number[]): Promise<void> {
  const client = new mongo.MongoClient(uri, LIMITS);
  try {
    await client.db('admin').command(command);
  } catch (error) {
    if (!hasCode(error, ...done)) throw error;
  } finally {
    await client.close();
  }
}
