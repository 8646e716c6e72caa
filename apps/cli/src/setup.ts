import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  checkMongodbUri,
  CounterRepository,
  createFirstUsers,
  initiateReplicaSet,
  isNotAllowed,
  MaintenanceRepository,
  reasonOf,
  SchemaRepository,
  SecretRepository,
} from '@app/database';
import { SearchBackfill } from '@app/items';
import { loadCliConfig } from '@app/runtime';
import { CommandError, runCommand, retryFor } from './command.js';
import { DATABASE_STARTS_WITHIN_MS, withDatabase } from './with-database.js';

const USAGE = 'usage: setup [--init-replica-set SET/HOST:PORT [--admin-uri-file FILE]]';
const WAIT_FOR_MONGOD_MS = 120_000;

/**
 * Prepares a database for the service: indexes, the `publicId` sequence, the secret for idempotency keys, and derived
 * fields. Skips what is already done, so that it can be run again after an interruption.
 */
runCommand(USAGE, async (print) => {
  const options = { 'init-replica-set': { type: 'string' }, 'admin-uri-file': { type: 'string' } } as const;
  const { 'init-replica-set': member, 'admin-uri-file': adminFile } = parseArgs({ options }).values;
  if (member !== undefined) await initiate(member, adminFile, print);

  await withDatabase(print, DATABASE_STARTS_WITHIN_MS, async (database) => {
    const schema = new SchemaRepository(database);
    const { dropped, kept } = await schema.dropMultikeyIndexes();
    await schema.createIndexes();
    const obsolete = await schema.dropObsoleteIndexes();
    print(`indexes exist${obsolete.length > 0 ? `; removed obsolete ones: ${obsolete.join(', ')}` : ''}`);
    if (dropped.length > 0) print(`built again, because a document had an array in a field: ${dropped.join(', ')}`);
    if (kept.length > 0) print(`slow, because a document has an array in a field: ${kept.join(', ')}; see check-data`);
    await validateWrites(schema, print);
    const highest = await new CounterRepository(database).raiseToHighestStored();
    print(`publicId sequence is at ${String(highest)} or above`);
    await new SecretRepository(database).findOrCreate();
    const derived = await new SearchBackfill(new MaintenanceRepository(database)).run(new Date());
    print(`search terms are up to date (${String(derived)} items changed)`);
  });
});

/** Turns validation on or off. A database user that may write is not always allowed to change collections. */
async function validateWrites(schema: SchemaRepository, print: (line: string) => void): Promise<void> {
  const isOn = loadCliConfig().validateWrites;
  try {
    await schema.validateWrites(isOn);
    print(
      isOn ? 'MongoDB checks the fields of items that are written' : 'MongoDB does not check items that are written',
    );
  } catch (error) {
    if (!isNotAllowed(error)) throw error;
    print('MongoDB does not check items that are written: the user may not change collections (collMod)');
  }
}

/** With an administrator's URI, also creates that user and the one of `MONGODB_URI`. mongod must be on this machine. */
async function initiate(member: string, adminFile: string | undefined, print: (line: string) => void): Promise<void> {
  const [, set, host] = /^([^/]+)\/([^/]+:\d+)$/.exec(member) ?? [];
  if (set === undefined || host === undefined) throw new CommandError(USAGE);
  if (adminFile !== undefined) checkMongodbUri(loadCliConfig().mongodbUri);
  const users = adminFile && { admin: contentOf(adminFile), service: loadCliConfig().mongodbUri };
  const report = (line: string, error: unknown): void => {
    print(`${line}: ${reasonOf(error)}`);
  };
  await retryFor(WAIT_FOR_MONGOD_MS, `MongoDB at ${host}`, report, () =>
    users ? createFirstUsers({ set, host }, users) : initiateReplicaSet({ set, host }),
  );
  print(`replica set ${set} has its member ${host}`);
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new CommandError(`Cannot read ${file}: ${(error as Error).message}`);
  }
}
