import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ApiClient } from './api-client.js';
import { eventually } from './eventually.js';

/** How long a busy machine may take to start a process. */
export const START_WITHIN_MS = 100_000;

const ROOT = join(__dirname, '..', '..');

/** A line of a process's log. */
export type LogLine = Record<string, unknown> & { msg: string };

/** How a process ended. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  afterMs: number;
}

/** The response of `/health/ready`. */
export interface ReadyReport {
  httpStatus: number;
  status: string;
  parts: Record<string, string>;
}

const started: ServiceProcess[] = [];

/** Kills the processes of a test file and returns them. */
export async function killProcesses(): Promise<ServiceProcess[]> {
  const killed = started.splice(0);
  await Promise.all(killed.map((process) => process.end('SIGKILL')));
  return killed;
}

/**
 * Kills the processes of a test file.
 *
 * @throws if one of them has written to stderr, or Node.js has warned about it
 */
export async function endProcesses(): Promise<void> {
  const unexpected = (await killProcesses()).map((each) => each.unexpectedOutput).join('');
  if (unexpected !== '') throw new Error(`unexpected output: ${unexpected}`);
}

/** An API or a worker run as an operator runs it: `node dist/…` with its own environment and signals. */
export class ServiceProcess {
  /** The lines logged so far. */
  readonly log: LogLine[] = [];
  /** The output on stderr so far: empty unless something is wrong. */
  stderr = '';
  private readonly exited: Promise<unknown>;

  private constructor(
    private readonly name: 'api' | 'worker',
    private readonly child: ChildProcess,
  ) {
    this.exited = once(child, 'close');
    if (child.stdout !== null) {
      createInterface(child.stdout).on('line', (line) => this.log.push(JSON.parse(line) as LogLine));
    }
    child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    // An aborted test run must not leave the process running.
    const kill = (): void => {
      child.kill('SIGKILL');
    };
    process.once('exit', kill);
    void this.exited.then(() => process.off('exit', kill));
  }

  /**
   * Starts the output of `npm run build` as `npm run start:…` does. Passes on `env`, PATH and no other variables.
   *
   * @param root another built checkout
   * @param stdout a file descriptor, instead of a pipe that is read into `log`
   */
  static start(
    name: 'api' | 'worker',
    env: NodeJS.ProcessEnv,
    root = ROOT,
    stdout: 'pipe' | number = 'pipe',
  ): ServiceProcess {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<`start:${'api' | 'worker'}`, string>;
    };
    const [, , ...nodeArguments] = scripts[`start:${name}`].split(' ');
    const child: ChildProcess = spawn(process.execPath, nodeArguments, {
      stdio: ['ignore', stdout, 'pipe'],
      cwd: root,
      env: { PATH: process.env['PATH'], LOG_LEVEL: 'info', ...env },
    });
    const service = new ServiceProcess(name, child);
    started.push(service);
    return service;
  }

  /** Waits for a log line with this message, which may be the first one. */
  async waitForLog(msg: string, withinMs = START_WITHIN_MS): Promise<LogLine> {
    return eventually(() => {
      const line = this.log.find((line) => line.msg === msg);
      if (line === undefined) throw new Error(`no "${msg}" in ${JSON.stringify(this.log)} ${this.stderr}`);
      return line;
    }, withinMs);
  }

  /** Returns a client of the process once it listens. */
  async client(): Promise<ApiClient> {
    const { port } = await this.waitForLog('listening');
    return new ApiClient(`http://127.0.0.1:${String(port)}`);
  }

  /** Returns the URL of the endpoints for operators, once they are served. */
  async adminUrl(): Promise<string> {
    const msg = this.name === 'api' ? 'listening for operators' : 'listening';
    const { port } = await this.waitForLog(msg);
    return `http://127.0.0.1:${String(port)}`;
  }

  /** The output on stderr so far, and the warnings of Node.js in the log: empty unless something is wrong. */
  get unexpectedOutput(): string {
    const warnings = this.log.filter(({ msg }) => msg === 'process warning');
    return this.stderr + warnings.map((warning) => JSON.stringify(warning)).join('\n');
  }

  async metrics(): Promise<string> {
    return (await fetch(`${await this.adminUrl()}/metrics`)).text();
  }

  async ready(): Promise<ReadyReport> {
    const { status, body } = await (await this.client()).request<Omit<ReadyReport, 'httpStatus'>>('/health/ready', {});
    return { ...body, httpStatus: status };
  }

  /** Waits until `/health/ready` reports this status. */
  async waitForStatus(status: string, withinMs?: number): Promise<ReadyReport> {
    await this.client();
    return eventually(async () => {
      const ready = await this.ready();
      if (ready.status !== status) throw new Error(`${JSON.stringify(ready)} is not ${status}`);
      return ready;
    }, withinMs);
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** How long the process took to stop, in ms and by its own log: a busy machine delays signals and exits. */
  get stoppedAfterMs(): number {
    const [from, to] = ['stopping', 'stopped'].map((msg) =>
      Number(this.log.find((line) => line.msg === msg)?.['time']),
    );
    return Number(to) - Number(from);
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Sends the signals and waits for the process to exit. */
  async end(...signals: NodeJS.Signals[]): Promise<Exit> {
    const since = Date.now();
    for (const signal of signals) this.signal(signal);
    await this.exited;
    const { exitCode: code, signalCode: signal } = this.child;
    return { code, signal, afterMs: Date.now() - since };
  }
}
