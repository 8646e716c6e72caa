import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { StepError } from '../steps.mjs';

/**
 * Returns the folder for downloaded programs, in the user's cache. Each platform and architecture has its own, because
 * several machines may share a home.
 */
export function cacheFolder() {
  const usual = process.platform === 'darwin' ? join('Library', 'Caches') : '.cache';
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), usual);
  const folder = join(cache, 'item-listing-service', `${process.platform}-${process.arch}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StepError(`${error.message}: set XDG_CACHE_HOME to another folder`);
  }
  return folder;
}
