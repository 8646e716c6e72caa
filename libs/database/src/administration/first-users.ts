import { ConfigError } from '@app/runtime';
import { mongo } from 'mongoose';
import { hasCode } from '../connection/database-errors.js';
import { runAdminCommand } from './admin-command.js';
import { initiateReplicaSet, type ReplicaSetMember } from './replica-set.js';

const UNAUTHORIZED = 13;
const AUTHENTICATION_FAILED = 18;
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
