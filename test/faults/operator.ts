import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { isatty, ReadStream, WriteStream } from 'node:tty';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The operator does not want to do what is asked for. */
export class Skipped extends Error {}

/**
 * Has the operator of external servers do something: runs the command that was given for it, or asks on the terminal.
 *
 * @throws Skipped if the operator skips it
 * @throws if the command fails, or if there is neither a command nor a terminal
 */
export async function operate(what: string, command: string | undefined): Promise<void> {
  if (command !== undefined) {
    await run('sh', ['-c', command]);
    return;
  }
  if (!isatty(0)) throw new Error('There is no terminal to ask on: give --fail-over-mongodb and --fail-over-redis');
  // Jest replaces the standard streams.
  const input = new ReadStream(0);
  // Otherwise, readline would take Ctrl-C for itself.
  const terminal = createInterface({ input, output: new WriteStream(2), terminal: false });
  const closed = once(terminal, 'close').then(() => 'skip');
  const response = terminal.question(`\n>>> ${what}, then press Enter. To skip this check, type skip.\n`);
  const isSkipped = (await Promise.race([response, closed])).trim() === 'skip';
  terminal.close();
  input.destroy();
  if (isSkipped) throw new Skipped(what);
}
