import { readFileSync } from 'node:fs';
import { SchemaRepository, type Database } from '@app/database';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { ServiceProcess } from '../support/processes.js';
import { openQueue, type OpenQueue } from '../support/queue.js';
import { freshEnvironment, openDatabase } from '../support/service.js';
import type { Stores } from '../faults/stores.js';
import type { Scale } from './attacker.js';

const READY_WITHIN_MS = 30_000;
/** In the log: pino's level. */
const ERROR = 50;

/** Settings of the processes that are attacked. */
export interface TargetOptions {
  env?: NodeJS.ProcessEnv;
  /** Of the API alone. */
  apiEnv?: NodeJS.ProcessEnv;
  /** Runs on the empty database and queue, before the processes start. */
  prepare?: (env: NodeJS.ProcessEnv, scale: Scale) => Promise<void>;
}

/** An API and a worker in processes of their own, on a fresh database and queue, that are attacked. */
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
    const fresh = freshEnvironment({ LOG_LEVEL: 'info', REDIS_URL: stores.redis.url, ...more });
    const env = { ...fresh, MONGODB_URI: stores.mongodbUri(fresh['QUEUE_PREFIX'] ?? '') };
    const database = await openDatabase(env);
    const jobs = openQueue(env);
    try {
      await new SchemaRepository(database).createIndexes();
      await prepare?.(env, scale);
      const api = ServiceProcess.start('api', { ...env, ...apiEnv });
      const worker = ServiceProcess.start('worker', env);
      // An API that has something to tell of the queue is degraded, and answers all the same.
      await Promise.all([takesRequests(api), worker.becomes('ready', READY_WITHIN_MS)]);
      return new Target(stores, database, jobs, api, worker, await api.client());
    } catch (error) {
      await Promise.all([database.close(), jobs.close()]);
      throw error;
    }
  }

  /** What the processes suffered, in sentences. */
  complaints(maxMegabytes: number): string[] {
    return [...complaintsOf('api', this.api, maxMegabytes), ...complaintsOf('worker', this.worker, maxMegabytes)];
  }

  async end(): Promise<void> {
    await Promise.all([this.api.end('SIGKILL'), this.worker.end('SIGKILL')]);
    await this.stores.heal(this.jobs.redis);
    await this.database.connection.dropDatabase();
    await this.jobs.redis.flushall();
    await Promise.all([this.database.close(), this.jobs.close()]);
  }
}

function complaintsOf(name: string, process: ServiceProcess, maxMegabytes: number): string[] {
  const errors = process.log.filter(({ level }) => Number(level) >= ERROR).map(({ msg }) => msg);
  const megabytes = peakMegabytes(process);
  return [
    ...(process.isRunning ? [] : [`the ${name} ended by itself`]),
    ...[...new Set(errors)].map((msg) => `the ${name} logged ${JSON.stringify(msg)}`),
    ...(process.stderr === '' ? [] : [`the ${name} wrote ${process.stderr.slice(0, 300)}`]),
    ...(megabytes > maxMegabytes ? [`the ${name} took ${megabytes.toFixed(0)} MB`] : []),
  ];
}

/** The most memory that a process has had, which only Linux tells; 0 elsewhere, and after its end. */
function peakMegabytes({ log: [line] }: ServiceProcess): number {
  try {
    const status = readFileSync(`/proc/${String(line?.['pid'])}/status`, 'utf8');
    return (Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * 1024) / 1e6;
  } catch {
    return 0;
  }
}

function takesRequests(api: ServiceProcess): Promise<unknown> {
  return eventually(async () => {
    expect((await api.ready()).httpStatus).toBe(200);
  }, READY_WITHIN_MS);
}
