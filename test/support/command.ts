import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');

/** What a command has left behind. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A command as an operator runs it: `node dist/…`, its own environment, real pipes and signals. */
export class Command {
  stdout = '';
  stderr = '';
  readonly child: ChildProcess;
  private readonly closed: Promise<unknown>;

  constructor(name: string, env: NodeJS.ProcessEnv, args: string[]) {
    const script = join(ROOT, 'dist', 'apps', 'cli', 'src', `${name}.js`);
    this.child = spawn(process.execPath, [script, ...args], { env: { PATH: process.env['PATH'], ...env } });
    this.closed = once(this.child, 'close');
    this.child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (this.stdout += chunk));
    this.child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (this.stderr += chunk));
    // It may end before it has read all that it is sent.
    this.child.stdin?.on('error', () => undefined);
    const kill = (): void => {
      this.child.kill('SIGKILL');
    };
    process.once('exit', kill);
    void this.closed.then(() => process.off('exit', kill));
  }

  async ended(): Promise<Ended> {
    await this.closed;
    return { code: this.child.exitCode, stdout: this.stdout, stderr: this.stderr };
  }
}

/** Runs a command to its end, with this on its stdin. */
export async function runToEnd(name: string, env: NodeJS.ProcessEnv, args: string[], stdin = ''): Promise<Ended> {
  const command = new Command(name, env, args);
  command.child.stdin?.end(stdin);
  return command.ended();
}
