import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');

/** The exit code and the output of a command. */
export interface CommandExit {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A command run as an operator runs it: `node dist/…` with its own environment, pipes and signals. */
export class Command {
  stdout = '';
  stderr = '';
  readonly child: ChildProcess;
  private readonly closed: Promise<unknown>;

  /** @param root another built checkout */
  constructor(name: string, env: NodeJS.ProcessEnv, args: string[], root = ROOT) {
    const script = join(root, 'dist', 'apps', 'cli', 'src', `${name}.js`);
    this.child = spawn(process.execPath, [script, ...args], { env: { PATH: process.env['PATH'], ...env } });
    this.closed = once(this.child, 'close');
    this.child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (this.stdout += chunk));
    this.child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (this.stderr += chunk));
    // EPIPE: the command may exit before it has read all of its input.
    this.child.stdin?.on('error', () => undefined);
    const kill = (): void => {
      this.child.kill('SIGKILL');
    };
    process.once('exit', kill);
    void this.closed.then(() => process.off('exit', kill));
  }

  async waitForExit(): Promise<CommandExit> {
    await this.closed;
    return { code: this.child.exitCode, stdout: this.stdout, stderr: this.stderr };
  }
}

/**
 * Runs a command until it exits, with `stdin` as its input.
 *
 * @param root another built checkout
 */
export async function runToExit(
  name: string,
  env: NodeJS.ProcessEnv,
  args: string[],
  stdin = '',
  root = ROOT,
): Promise<CommandExit> {
  const command = new Command(name, env, args, root);
  command.child.stdin?.end(stdin);
  return command.waitForExit();
}
