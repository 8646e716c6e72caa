import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Returns the folder for downloaded programs, in the user's cache. Each platform and architecture has its own, because
 * several machines may share a home.
 */
export function cacheFolder() {
  const usual = process.platform === 'darwin' ? join('Library', 'Caches') : '.cache';
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), usual);
  const folder = join(cache, 'item-listing-service', `${process.platform}-${process.arch}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}
