import { checkMongodbUri, Database, NO_REPLICA_SET } from '@app/database';
import { loadCliConfig } from '@app/runtime';
import { CommandError } from './command.js';

/** How long a command waits for a MongoDB that starts at the same time. */
export const DATABASE_STARTS_WITHIN_MS = 120_000;
/** No socket timeout, because building an index on a large collection is a single long operation. */
const DATABASE = { serverSelectionMs: 5000, socketMs: 0 };

/**
 * Connects to the database of `MONGODB_URI`, and disconnects after `use`.
 *
 * @throws ConfigError if the URI is not valid; CommandError if MongoDB does not respond within `ms`, or its replica
 * set is not initiated by then
 */
export async function withDatabase(
  print: (line: string) => void,
  ms: number,
  use: (database: Database) => Promise<void>,
): Promise<void> {
  const { mongodbUri: uri } = loadCliConfig();
  checkMongodbUri(uri);
  const database = new Database({ uri, ...DATABASE });
  try {
    // Cleared after connecting: the time limit does not apply to `use`.
    const giveUp = setTimeout(() => void database.close(), ms);
    await database.connect(print);
    clearTimeout(giveUp);
    if (!database.hasResponded) throw new CommandError(reasonAfter(ms, database));
    await use(database);
  } finally {
    await database.close();
  }
}

function reasonAfter(ms: number, database: Database): string {
  return database.isReplicaSetMissing
    ? `MongoDB has ${NO_REPLICA_SET}`
    : `MongoDB did not respond within ${String(ms / 1000)} s`;
}
