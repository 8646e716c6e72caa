import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { Database, SchemaRepository } from '@app/database';
import { createLogger, loadApiConfig, loadWorkerConfig } from '@app/runtime';
import { createApp as createApi } from '../../apps/api/src/app.js';
import type { ClientTimeouts } from '../../apps/api/src/http/server.js';
import { createApp as createWorker } from '../../apps/worker/src/app.js';
import { ApiClient } from './api-client.js';
import { eventually } from './eventually.js';

/** The whole service, running in this process with its own database and queue. */
export interface Service {
  api: ApiClient;
  /** The URL of the API's endpoints for operators. */
  adminUrl: string;
  /** Returns the API's metrics. */
  metrics: () => Promise<string>;
  /** The service's database, for writing to it as other services do. */
  database: Database;
  env: NodeJS.ProcessEnv;
  stop: () => Promise<void>;
}

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

export interface ServiceOptions {
  env?: NodeJS.ProcessEnv;
  /** Whether to start a worker. Without one, creates are queued but not processed. */
  worker?: boolean;
  timeouts?: ClientTimeouts;
}

export async function startService({ env: more, worker = true, timeouts }: ServiceOptions = {}): Promise<Service> {
  const env = freshEnvironment(more);
  const database = await openDatabase(env);
  await new SchemaRepository(database).createIndexes();
  const running = await Promise.all([startApi(env, timeouts), ...(worker ? [startWorker(env)] : [])]);
  const adminUrl = `http://127.0.0.1:${String(running[0].adminPort)}`;
  return {
    api: running[0].api,
    adminUrl,
    metrics: async () => (await fetch(`${adminUrl}/metrics`)).text(),
    database,
    env,
    stop: async () => {
      await Promise.all(running.map(({ stop }) => stop()));
      await database.connection.dropDatabase();
      await database.close();
    },
  };
}

/** Starts an API for an environment. An environment may have several. */
export async function startApi(
  env: NodeJS.ProcessEnv,
  timeouts?: ClientTimeouts,
): Promise<{ api: ApiClient; adminPort: number | undefined; stop: () => Promise<void> }> {
  const { port, adminPort, stop } = await createApi(loadApiConfig(env), await createLogger('test', 'silent'), timeouts);
  await eventually(() => expectReady(port));
  return { api: new ApiClient(`http://127.0.0.1:${String(port)}`), adminPort, stop };
}

/** Starts a worker for an environment. An environment may have several. */
export async function startWorker(env: NodeJS.ProcessEnv): Promise<{ stop: () => Promise<void> }> {
  const { port, stop } = await createWorker(loadWorkerConfig(env), await createLogger('test', 'silent'));
  await eventually(() => expectReady(port));
  return { stop };
}

/** Connects to the database of an environment, to read and write it without the service. */
export async function openDatabase({ MONGODB_URI: uri = '' }: NodeJS.ProcessEnv): Promise<Database> {
  const database = new Database({ uri, serverSelectionMs: 5000, socketMs: 0 });
  await database.connect(() => undefined);
  return database;
}

async function expectReady(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${String(port)}/health/ready`);
  if (!response.ok) throw new Error(await response.text());
}

function databaseUri(name: string): string {
  const uri = new URL(process.env['MONGODB_URI'] ?? missing('MONGODB_URI'));
  uri.pathname = `/${name}`;
  return uri.href;
}

function missing(name: string): never {
  throw new Error(`${name} is missing: run the tests with npm test, which starts the databases`);
}
