import { accessSync, constants, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { LOCAL } from '../checkout/root.mjs';

/**
 * Returns the folder for downloaded programs. It is in the user's cache or, if that is not writable (a read-only home),
 * in the checkout. Each platform and architecture has its own, because several machines may share a home.
 */
export function cacheFolder() {
  const usual = join(userCache(), 'item-listing-service');
  const folder = join(isWritable(usual) ? usual : join(LOCAL, 'cache'), `${process.platform}-${process.arch}`);
  mkdirSync(folder, { recursive: true });
  return folder;
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
