import { runAdminCommand } from './admin-command.js';

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
