import { readFileSync } from 'node:fs';
import { SchemaRepository, type Database } from '@app/database';
import type { ApiClient } from '../support/api-client.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { ServiceProcess } from '../support/processes.js';
import { openQueue, type OpenQueue } from '../support/queue.js';
import type { Stores } from '../faults/stores.js';
import type { Scale } from './attacker.js';

const READY_WITHIN_MS = 60_000;
/** Longer than a busy machine takes. The quiet client measures the time itself. */
const CREATE_WAIT_MS = '50000';
/** pino's level for errors. */
const ERROR = 50;

/** Settings of the attacked processes. */
export interface TargetOptions {
  env?: NodeJS.ProcessEnv;
  /** Environment of the API only. */
  apiEnv?: NodeJS.ProcessEnv;
  /** Runs on the empty database and queue, before the processes start. */
  prepare?: (env: NodeJS.ProcessEnv, scale: Scale) => Promise<void>;
}

/** The attacked API and worker, in processes of their own, on a fresh database and queue. */
export class Target {
  private constructor(
    readonly stores: Stores,
    readonly database: Database,
    readonly jobs: OpenQueue,
    readonly api: ServiceProcess,
    readonly worker: ServiceProcess,
    readonly client: ApiClient,
  ) {}

  static async start(stores: Stores, { env: more, apiEnv, prepare }: TargetOptions, scale: Scale): Promise<Target> {
    const fresh = freshEnvironment({ LOG_LEVEL: 'info', CREATE_WAIT_MS, REDIS_URL: stores.uris.redis, ...more });
    const env = { ...fresh, MONGODB_URI: stores.mongodbUri(fresh['QUEUE_PREFIX'] ?? '') };
    const database = await openDatabase(env);
    const jobs = openQueue(env);
    try {
      await new SchemaRepository(database).createIndexes();
      await prepare?.(env, scale);
      const api = ServiceProcess.start('api', { ...env, ...apiEnv });
      const worker = ServiceProcess.start('worker', env);
      // An API that reports a problem of the queue is degraded, but still accepts requests.
      await Promise.all([waitUntilReady(api), worker.waitForStatus('ready', READY_WITHIN_MS)]);
      return new Target(stores, database, jobs, api, worker, await api.client());
    } catch (error) {
      await Promise.all([database.close(), jobs.close()]);
      throw error;
    }
  }

  /** Returns what went wrong in the processes, in sentences. */
  problems(maxMegabytes: number): string[] {
    return [...problemsOf('api', this.api, maxMegabytes), ...problemsOf('worker', this.worker, maxMegabytes)];
  }

  async end(): Promise<void> {
    await Promise.all([this.api.end('SIGKILL'), this.worker.end('SIGKILL')]);
    await this.stores.restore(this.jobs.redis);
    await this.database.connection.dropDatabase();
    await this.jobs.redis.flushall();
    await Promise.all([this.database.close(), this.jobs.close()]);
  }
}

function problemsOf(name: string, process: ServiceProcess, maxMegabytes: number): string[] {
  const errors = process.log.filter(({ level }) => Number(level) >= ERROR).map(({ msg }) => msg);
  const megabytes = peakMegabytes(process);
  const { unexpectedOutput } = process;
  return [
    ...(process.isRunning ? [] : [`the ${name} ended by itself`]),
    ...[...new Set(errors)].map((msg) => `the ${name} logged ${JSON.stringify(msg)}`),
    ...(unexpectedOutput === '' ? [] : [`the ${name} wrote ${unexpectedOutput.slice(0, 300)}`]),
    ...(megabytes > maxMegabytes ? [`the ${name} took ${megabytes.toFixed(0)} MB`] : []),
  ];
}

/** Returns the peak memory of a process; 0 after its end, and where there is no `/proc`. */
function peakMegabytes({ log: [line] }: ServiceProcess): number {
  try {
    const status = readFileSync(`/proc/${String(line?.['pid'])}/status`, 'utf8');
    return (Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * 1024) / 1e6;
  } catch {
    return 0;
  }
}

function waitUntilReady(api: ServiceProcess): Promise<unknown> {
  return eventually(async () => {
    expect((await api.ready()).httpStatus).toBe(200);
  }, READY_WITHIN_MS);
}
