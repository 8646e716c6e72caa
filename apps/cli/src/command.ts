import { setTimeout as delay } from 'node:timers/promises';
import { Database } from '@app/database';
import { ConfigError, loadCliConfig } from '@app/runtime';

/** A command cannot do its work for a reason that its user can mend; the message is all there is to say. */
export class CommandError extends Error {}

type Say = (line: string) => void;

const RETRY_MS = 500;
const REPORT_EVERY_MS = 5000;
/** How long a command waits for MongoDB that is started together with it. */
export const DATABASE_STARTS_WITHIN_MS = 120_000;
/** Building an index on a large collection is one operation. */
const DATABASE = { serverSelectionMs: 5000, socketMs: 0 };

/** Runs a command to its exit code: 0 done, 2 could not run. */
export function runCommand(usage: string, run: (say: Say) => Promise<void>): void {
  const say = (line: string): void => {
    console.log(line);
  };
  run(say).catch((error: unknown) => {
    const isTold = error instanceof ConfigError || error instanceof CommandError;
    const isUsage = error instanceof TypeError && 'code' in error;
    console.error(isTold ? error.message : isUsage ? `${error.message}\n${usage}` : error);
    process.exitCode = 2;
  });
}

/**
 * Connects to the database of `MONGODB_URI`, and closes it after `use`.
 *
 * @throws CommandError when it does not answer within `ms`
 */
export async function withDatabase(say: Say, ms: number, use: (database: Database) => Promise<void>): Promise<void> {
  const database = new Database({ uri: loadCliConfig().mongodbUri, ...DATABASE });
  try {
    // Cleared once connected: how long the work takes is its own affair.
    const giveUp = setTimeout(() => void database.close(), ms);
    await database.connect(say);
    clearTimeout(giveUp);
    if (!database.hasBeenSeen) throw new CommandError(`MongoDB did not answer within ${String(ms / 1000)} s`);
    await use(database);
  } finally {
    await database.close();
  }
}

/**
 * Tries until it works.
 *
 * @throws CommandError when it has not worked after `ms`
 */
export async function tryFor(ms: number, what: string, say: Say, attempt: () => Promise<void>): Promise<void> {
  const end = performance.now() + ms;
  let reportAt = 0;
  for (;;) {
    try {
      await attempt();
      return;
    } catch {
      if (performance.now() > end) throw new CommandError(`${what} did not answer within ${String(ms / 1000)} s`);
      if (performance.now() >= reportAt) {
        say(`${what} is away, trying again`);
        reportAt = performance.now() + REPORT_EVERY_MS;
      }
      await delay(RETRY_MS);
    }
  }
}
