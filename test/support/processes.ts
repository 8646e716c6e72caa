import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ApiClient } from './api-client.js';
import { eventually } from './eventually.js';

const ROOT = join(__dirname, '..', '..');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<`start:${'api' | 'worker'}`, string>;
};

/** One line of a process's log. */
export type LogLine = Record<string, unknown> & { msg: string };

/** How a process ended. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  afterMs: number;
}

/** The answer of `/health/ready`. */
export interface Ready {
  httpStatus: number;
  status: string;
  parts: Record<string, string>;
}

const started: ServiceProcess[] = [];

/** Kills what a test file has started and is still there, even where it failed. */
export async function killProcesses(): Promise<ServiceProcess[]> {
  const killed = started.splice(0);
  await Promise.all(killed.map((process) => process.end('SIGKILL')));
  return killed;
}

/**
 * Kills them likewise.
 *
 * @throws when one of them has written anything beside its log: a warning, an unhandled rejection
 */
export async function endProcesses(): Promise<void> {
  const unexpected = (await killProcesses()).map(({ stderr }) => stderr).join('');
  if (unexpected !== '') throw new Error(`unexpected on stderr: ${unexpected}`);
}

/** An API or a worker as an operator runs it: `node dist/…`, its own environment, real signals. */
export class ServiceProcess {
  /** What it has logged so far. */
  readonly log: LogLine[] = [];
  /** What it has written beside its log: nothing, unless something broke. */
  stderr = '';
  private readonly exited: Promise<unknown>;

  private constructor(private readonly child: ChildProcess) {
    this.exited = once(child, 'close');
    if (child.stdout !== null) {
      createInterface(child.stdout).on('line', (line) => this.log.push(JSON.parse(line) as LogLine));
    }
    child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    // A test run that breaks off leaves nothing behind.
    const kill = (): void => {
      child.kill('SIGKILL');
    };
    process.once('exit', kill);
    void this.exited.then(() => process.off('exit', kill));
  }

  /** Starts `npm run build`'s output as `npm run start:…` does; only `env` and PATH are in its environment. */
  static start(name: 'api' | 'worker', env: NodeJS.ProcessEnv): ServiceProcess {
    const [, , ...nodeArguments] = scripts[`start:${name}`].split(' ');
    const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
    const child = spawn(process.execPath, nodeArguments, {
      stdio,
      cwd: ROOT,
      env: { PATH: process.env['PATH'], LOG_LEVEL: 'info', ...env },
    });
    const service = new ServiceProcess(child);
    started.push(service);
    return service;
  }

  /** Waits for a line of the log. */
  async logged(msg: string, withinMs?: number): Promise<LogLine> {
    return eventually(() => {
      const line = this.log.find((line) => line.msg === msg);
      if (line === undefined) throw new Error(`no "${msg}" in ${JSON.stringify(this.log)} ${this.stderr}`);
      return line;
    }, withinMs);
  }

  /** A client of the process, once it listens. */
  async client(): Promise<ApiClient> {
    const { port } = await this.logged('listening');
    return new ApiClient(`http://127.0.0.1:${String(port)}`);
  }

  async ready(): Promise<Ready> {
    const { status, body } = await (await this.client()).request<Omit<Ready, 'httpStatus'>>('/health/ready', {});
    return { ...body, httpStatus: status };
  }

  /** Waits until `/health/ready` says this. */
  async becomes(status: string, withinMs?: number): Promise<Ready> {
    return eventually(async () => {
      const ready = await this.ready();
      if (ready.status !== status) throw new Error(`${JSON.stringify(ready)} is not ${status}`);
      return ready;
    }, withinMs);
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Sends the signals, and waits for the end of the process. */
  async end(...signals: NodeJS.Signals[]): Promise<Exit> {
    const since = Date.now();
    for (const signal of signals) this.signal(signal);
    await this.exited;
    const { exitCode: code, signalCode: signal } = this.child;
    return { code, signal, afterMs: Date.now() - since };
  }
}
