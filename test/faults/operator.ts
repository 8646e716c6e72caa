import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Has the operator of external servers do something: runs the command that was given for it, or asks on the terminal.
 * Returns false if the operator skips it.
 */
export async function operate(what: string, command: string | undefined): Promise<boolean> {
  if (command !== undefined) {
    await run('sh', ['-c', command]);
    return true;
  }
  // Jest replaces the standard streams.
  const terminal = createInterface({ input: createReadStream('/dev/tty'), output: createWriteStream('/dev/tty') });
  const response = await terminal.question(`\n>>> ${what}, then press Enter. To skip this check, type skip.\n`);
  terminal.close();
  return response.trim() !== 'skip';
}
