import 'reflect-metadata';
import { SchemaRepository, type Database } from '@app/database';
import { createLogger, loadApiConfig, loadWorkerConfig, type Logger } from '@app/runtime';
import { createApp as createApi } from '../../apps/api/src/app.js';
import type { ClientTimeouts } from '../../apps/api/src/http/connections/server.js';
import { createApp as createWorker } from '../../apps/worker/src/app.js';
import { ApiClient } from './api-client.js';
import { freshEnvironment, openDatabase } from './environment.js';
import { eventually } from './eventually.js';

/** An API that runs in this process. */
export interface RunningApi {
  api: ApiClient;
  /** The URL of its endpoints for operators. */
  adminUrl: string;
  /** Returns its metrics. */
  metrics: () => Promise<string>;
  stop: () => Promise<void>;
}

/** The whole service, running in this process with its own database and queue. */
export interface Service extends RunningApi {
  /** The service's database, for writing to it as other services do. */
  database: Database;
  env: NodeJS.ProcessEnv;
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
  const [api, ...workers] = await Promise.all([startApi(env, timeouts), ...(worker ? [startWorker(env)] : [])]);
  return {
    ...api,
    database,
    env,
    stop: async () => {
      await Promise.all([api, ...workers].map(({ stop }) => stop()));
      await database.connection.dropDatabase();
      await database.close();
    },
  };
}

/** Not on standard output, to which each logger would add listeners. */
const silentLogger = (): Promise<Logger> => createLogger('test', 'silent', { write: () => undefined });

/** Starts an API for an environment. An environment may have several. */
export async function startApi(env: NodeJS.ProcessEnv, timeouts?: ClientTimeouts): Promise<RunningApi> {
  const { port, adminPort, stop } = await createApi(loadApiConfig(env), await silentLogger(), timeouts);
  await eventually(() => expectReady(port));
  const adminUrl = `http://127.0.0.1:${String(adminPort)}`;
  const metrics = async (): Promise<string> => (await fetch(`${adminUrl}/metrics`)).text();
  return { api: new ApiClient(`http://127.0.0.1:${String(port)}`), adminUrl, metrics, stop };
}

/** Starts a worker for an environment. An environment may have several. */
export async function startWorker(env: NodeJS.ProcessEnv): Promise<{ stop: () => Promise<void> }> {
  const { port, stop } = await createWorker(loadWorkerConfig(env), await silentLogger());
  await eventually(() => expectReady(port));
  return { stop };
}

async function expectReady(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${String(port)}/health/ready`);
  if (!response.ok) throw new Error(await response.text());
}
