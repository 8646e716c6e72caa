import { randomUUID } from 'node:crypto';
import type { Database } from '@app/database';
import type { ApiClient } from '../support/api-client.js';
import { runToExit } from '../support/command.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { ServiceProcess, type Exit } from '../support/processes.js';
import { openQueue, type OpenQueue } from '../support/queue.js';
import type { Stores } from './stores.js';

const READY_WITHIN_MS = 30_000;
/** Waiting longer would tell clients nothing more, and would make the tests slower. */
const CREATE_WAIT_MS = '4000';

/** pino's level for warnings. */
const WARN = 40;
/** A process whose commands are refused retries slowly, so it logs few warnings. */
const MAX_WARNINGS = 100;

/** An API or a worker, whose process tests end, restart and replace. */
export class ServiceInstance {
  /** The process ended by itself, logged too many warnings, or wrote anything outside its log. */
  readonly problems: string[] = [];
  private running: ServiceProcess | undefined;
  private latestClient: ApiClient | undefined;

  constructor(
    private readonly name: 'api' | 'worker',
    private readonly env: NodeJS.ProcessEnv,
    /** The checkout that its processes run, if not this one. */
    private root: string | undefined,
  ) {}

  /** A client of the running process, or of the last one while none runs. */
  get client(): ApiClient {
    if (this.latestClient === undefined) throw new Error(`the ${this.name} was never started`);
    return this.latestClient;
  }

  /** Starts a process, and resolves once it is ready. */
  async start(): Promise<void> {
    const process = ServiceProcess.start(this.name, this.env, this.root);
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

  /** Replaces the process as a rolling deploy does: starts the next one, then tells the previous one to stop. */
  async replace(): Promise<void> {
    const previous = this.running;
    try {
      await this.start();
    } catch (error) {
      await previous?.end('SIGKILL');
      throw error;
    }
    if (previous === undefined) return;
    const { code } = await this.endAndCheck(previous, 'SIGTERM');
    if (code !== 0) this.problems.push(`the ${this.name} exited ${String(code)} when told to stop`);
  }

  /** Replaces the process by one of this checkout. */
  async upgrade(): Promise<void> {
    this.root = undefined;
    await this.replace();
  }

  private async endAndCheck(process: ServiceProcess, signal: NodeJS.Signals): Promise<Exit> {
    if (!process.isRunning) this.problems.push(`the ${this.name} ended by itself: ${lastLogLines(process)}`);
    const exit = await process.end(signal);
    const warnings = process.log.filter(({ level }) => Number(level) >= WARN).length;
    if (warnings > MAX_WARNINGS) this.problems.push(`the ${this.name} logged ${String(warnings)} warnings`);
    const { unexpectedOutput } = process;
    if (unexpectedOutput !== '') this.problems.push(`the ${this.name} wrote ${unexpectedOutput}`);
    return exit;
  }
}

/** Two APIs and two workers, in processes of their own, on a fresh database and queue. */
export class Deployment {
  private constructor(
    readonly stores: Stores,
    private readonly env: NodeJS.ProcessEnv,
    readonly database: Database,
    readonly jobs: OpenQueue,
    readonly apis: readonly ServiceInstance[],
    readonly workers: readonly ServiceInstance[],
  ) {}

  /** @param root a checkout whose `setup` and processes run first, if not this one */
  static async start(stores: Stores, more: NodeJS.ProcessEnv = {}, root?: string): Promise<Deployment> {
    const uris = { MONGODB_URI: stores.mongodbUri(`test-${randomUUID()}`), REDIS_URL: stores.uris.redis };
    const env = freshEnvironment({ LOG_LEVEL: 'info', CREATE_WAIT_MS, ...uris, ...more });
    const database = await openDatabase(env);
    const instances = (name: 'api' | 'worker'): ServiceInstance[] => [
      new ServiceInstance(name, env, root),
      new ServiceInstance(name, env, root),
    ];
    const deployment = new Deployment(stores, env, database, openQueue(env), instances('api'), instances('worker'));
    try {
      await deployment.setUp(root);
      await Promise.all(deployment.instances.map((instance) => instance.start()));
      return deployment;
    } catch (error) {
      await deployment.end();
      throw error;
    }
  }

  /** Runs `setup` of a checkout, by default of this one. Its processes may run meanwhile. */
  async setUp(root?: string): Promise<void> {
    const { code, stdout, stderr } = await runToExit('setup', this.env, [], '', root);
    if (code !== 0) throw new Error(`setup exited ${String(code)}: ${stdout}${stderr}`);
  }

  /** Undoes what a fault did to the stores. */
  async restore(): Promise<void> {
    await this.stores.restore(this.jobs.redis);
  }

  /** Ends the processes, and returns their problems. */
  async endProcesses(): Promise<string[]> {
    await Promise.all(this.instances.map((instance) => instance.end('SIGKILL')));
    return this.instances.flatMap(({ problems }) => problems);
  }

  async end(): Promise<void> {
    await this.endProcesses();
    await this.jobs.queue.obliterate({ force: true });
    await Promise.all([this.database.close(), this.jobs.close()]);
  }

  private get instances(): ServiceInstance[] {
    return [...this.apis, ...this.workers];
  }
}

function lastLogLines({ log }: ServiceProcess): string {
  return JSON.stringify(log.slice(-3));
}
