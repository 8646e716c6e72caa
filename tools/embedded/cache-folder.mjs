import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { StepError } from '../steps.mjs';

const NAME = 'item-listing-service';
let chosen;

/**
 * The folder where fetched programs are kept: the user's cache, or one in the temporary folder where that cannot be
 * written (a read-only home). Programs for different machines do not mix: a home may be shared by several.
 * @param {import('../steps.mjs').Steps} steps hears of the second choice
 */
export function cacheFolder(steps) {
  chosen ??= join(choose(steps), `${process.platform}-${process.arch}`);
  mkdirSync(chosen, { recursive: true });
  return chosen;
}

function choose(steps) {
  const usual = join(userCache(), NAME);
  if (isWritable(usual)) return usual;
  const second = join(tmpdir(), `${NAME}-cache-${process.getuid()}`);
  steps.say(`The cache ${usual} cannot be written: ${second} is used`);
  // Anyone may have made a folder of that name: what it holds is run, so it has to be our own.
  if (isWritable(second) && lstatSync(second).isDirectory() && lstatSync(second).uid === process.getuid())
    return second;
  throw new StepError(`Neither ${usual} nor ${second} can be written`, {
    hint: 'set XDG_CACHE_HOME to a folder that can',
  });
}

function userCache() {
  const asked = process.env.XDG_CACHE_HOME;
  if (asked && isAbsolute(asked)) return asked;
  return join(homedir(), ...(process.platform === 'darwin' ? ['Library', 'Caches'] : ['.cache']));
}

function isWritable(folder) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
