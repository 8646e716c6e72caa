import { execFile } from 'node:child_process';
import { createInterface } from 'node:readline/promises';
import { isatty, ReadStream, WriteStream } from 'node:tty';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Has the operator of external servers do something: runs the command that was given for it, or asks on the terminal.
 * Returns false if the operator skips it.
 *
 * @throws if there is neither a command nor a terminal
 */
export async function operate(what: string, command: string | undefined): Promise<boolean> {
  if (command !== undefined) {
    await run('sh', ['-c', command]);
    return true;
  }
  if (!isatty(0)) throw new Error('There is no terminal to ask on: give --fail-over-mongodb and --fail-over-redis');
  // Jest replaces the standard streams.
  const input = new ReadStream(0);
  const terminal = createInterface({ input, output: new WriteStream(2) });
  const response = await terminal.question(`\n>>> ${what}, then press Enter. To skip this check, type skip.\n`);
  terminal.close();
  input.destroy();
  return response.trim() !== 'skip';
}
