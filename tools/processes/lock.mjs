import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { lock } from 'proper-lockfile';

/** How long the lock of a process stays that could not remove it. */
const STALE_MS = 10_000;

/**
 * Takes a lock until the end of this run, unless another process holds it.
 * @param {import('./launcher.mjs').Launcher} launcher
 * @param {string} path of the file to lock, which need not exist
 * @returns {Promise<boolean>} whether it was free
 */
export async function tryLock(launcher, path) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    // A lock is lost when its folder is deleted, which is no reason to exit.
    await lock(path, { realpath: false, stale: STALE_MS, onCompromised: () => {} });
  } catch (error) {
    if (error.code === 'ELOCKED') return false;
    throw error;
  }
  launcher.removeAtEnd(`${path}.lock`);
  return true;
}
