import { SchemaRepository, type Database } from '@app/database';
import type { ApiClient } from '../support/api-client.js';
import { ServiceProcess, type Exit } from '../support/processes.js';
import { openQueue, type OpenQueue } from '../support/queue.js';
import { freshEnvironment, openDatabase } from '../support/service.js';
import type { Stores } from './stores.js';

const READY_WITHIN_MS = 30_000;
/** Waiting longer would tell clients nothing more and make the tests slower. */
const CREATE_WAIT_MS = '4000';

/** pino's level for warnings. */
const WARN = 40;
/** A process that is refused something retries slowly, so that its warnings stay few. */
const MAX_ALARMS = 100;

/** A slot in which processes of the service run one after the other. */
export class Seat {
  /** Processes that ended by themselves, logged too many warnings, or wrote anything outside their logs. */
  readonly complaints: string[] = [];
  private running: ServiceProcess | undefined;
  private latestClient: ApiClient | undefined;

  constructor(
    private readonly name: 'api' | 'worker',
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  /** A client of the running process, or of the last one while none runs. */
  get client(): ApiClient {
    if (this.latestClient === undefined) throw new Error(`the ${this.name} was never started`);
    return this.latestClient;
  }

  /** Starts a process, and resolves once it is ready. */
  async start(): Promise<void> {
    const process = ServiceProcess.start(this.name, this.env);
    this.running = process;
    await process.waitForStatus('ready', READY_WITHIN_MS);
    this.latestClient = await process.client();
  }

  signal(signal: NodeJS.Signals): void {
    this.running?.signal(signal);
  }

  /** Ends the process, and resolves once it has ended. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const { running } = this;
    if (running === undefined) return;
    this.running = undefined;
    await this.endAndCheck(running, signal);
  }

  /** Replaces the process as a rolling deploy does: the next one takes over, then this one is told to stop. */
  async replace(): Promise<void> {
    const previous = this.running;
    await this.start();
    if (previous === undefined) return;
    const { code } = await this.endAndCheck(previous, 'SIGTERM');
    if (code !== 0) this.complaints.push(`the ${this.name} exited ${String(code)} when told to stop`);
  }

  private async endAndCheck(process: ServiceProcess, signal: NodeJS.Signals): Promise<Exit> {
    if (!process.isRunning) this.complaints.push(`the ${this.name} ended by itself: ${lastWords(process)}`);
    const exit = await process.end(signal);
    const alarms = process.log.filter(({ level }) => Number(level) >= WARN).length;
    if (alarms > MAX_ALARMS) this.complaints.push(`the ${this.name} logged ${String(alarms)} warnings`);
    if (process.stderr !== '') this.complaints.push(`the ${this.name} wrote ${process.stderr}`);
    return exit;
  }
}

/** Two APIs and two workers, in processes of their own, on a fresh database and queue. */
export class Stage {
  private constructor(
    readonly stores: Stores,
    readonly database: Database,
    readonly jobs: OpenQueue,
    readonly apis: readonly Seat[],
    readonly workers: readonly Seat[],
  ) {}

  static async set(stores: Stores, more: NodeJS.ProcessEnv = {}): Promise<Stage> {
    const fresh = freshEnvironment({ LOG_LEVEL: 'info', CREATE_WAIT_MS, REDIS_URL: stores.redis.url, ...more });
    const env = { ...fresh, MONGODB_URI: stores.mongodbUri(fresh['QUEUE_PREFIX'] ?? '') };
    const database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    const seats = (name: 'api' | 'worker'): Seat[] => [new Seat(name, env), new Seat(name, env)];
    const stage = new Stage(stores, database, openQueue(env), seats('api'), seats('worker'));
    try {
      await Promise.all(stage.seats.map((seat) => seat.start()));
      return stage;
    } catch (error) {
      await stage.end();
      throw error;
    }
  }

  /** Undoes what a fault did to the stores. */
  async heal(): Promise<void> {
    await this.stores.heal(this.jobs.redis);
  }

  /** Ends the processes. Returns what was wrong with any of them. */
  async endProcesses(): Promise<string[]> {
    await Promise.all(this.seats.map((seat) => seat.end('SIGKILL')));
    return this.seats.flatMap(({ complaints }) => complaints);
  }

  async end(): Promise<void> {
    await this.endProcesses();
    await Promise.all([this.database.close(), this.jobs.close()]);
  }

  private get seats(): Seat[] {
    return [...this.apis, ...this.workers];
  }
}

function lastWords({ log }: ServiceProcess): string {
  return JSON.stringify(log.slice(-3));
}
