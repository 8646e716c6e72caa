import { randomUUID } from 'node:crypto';
import { Database } from '@app/database';

/** Returns the environment of a service that shares no data with any other: a new database name and queue prefix. */
export function freshEnvironment(env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const name = `test-${randomUUID()}`;
  return {
    MONGODB_URI: env['MONGODB_URI'] ?? databaseUri(name),
    REDIS_URL: env['REDIS_URL'] ?? process.env['REDIS_URL'] ?? missing('REDIS_URL'),
    QUEUE_PREFIX: name,
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    WORKER_PORT: '0',
    LOG_LEVEL: 'silent',
    // The tests of the operations also run without the fast lane.
    FAST_LANE: process.env['FAST_LANE'],
    ...env,
  };
}

/** Connects to the database of an environment, to read and write it without the service. */
export async function openDatabase({ MONGODB_URI: uri = '' }: NodeJS.ProcessEnv): Promise<Database> {
  const database = new Database({ uri, serverSelectionMs: 5000, socketMs: 0 });
  await database.connect(() => undefined);
  return database;
}

function databaseUri(name: string): string {
  const uri = new URL(process.env['MONGODB_URI'] ?? missing('MONGODB_URI'));
  uri.pathname = `/${name}`;
  return uri.href;
}

function missing(name: string): never {
  throw new Error(`${name} is missing: run the tests with npm test, which starts the databases`);
}
