import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { StepError } from '../steps.mjs';

const NAME = 'item-listing-service';
let chosen;

/**
 * Returns the folder for downloaded programs. It is in the user's cache or, if that is not writable (a read-only home),
 * in the temporary folder. Each platform and architecture has its own, because several machines may share a home.
 * @param {import('../steps.mjs').Steps} steps prints a line if the temporary folder is used
 */
export function cacheFolder(steps) {
  chosen ??= join(choose(steps), `${process.platform}-${process.arch}`);
  mkdirSync(chosen, { recursive: true });
  return chosen;
}

function choose(steps) {
  const usual = join(userCache(), NAME);
  if (isWritable(usual)) return usual;
  const fallback = join(tmpdir(), `${NAME}-cache-${process.getuid()}`);
  steps.print(`The cache folder ${usual} is not writable; using ${fallback}`);
  // Programs in this folder are run, and anyone can create a folder with this name: it has to belong to this user.
  if (isWritable(fallback) && lstatSync(fallback).isDirectory() && lstatSync(fallback).uid === process.getuid())
    return fallback;
  throw new StepError(`Neither ${usual} nor ${fallback} is writable`, {
    hint: 'set XDG_CACHE_HOME to a writable folder',
  });
}

function userCache() {
  const configured = process.env.XDG_CACHE_HOME;
  if (configured && isAbsolute(configured)) return configured;
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
