import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StepError } from '../steps.mjs';
import { cacheFolder } from './cache-folder.mjs';
import { versionOf } from './version-of.mjs';

/**
 * A place to get a program from.
 * @typedef {object} Source
 * @property {string} title what follows the program's name in messages
 * @property {string} folder its folder in the cache; contains the release if the source pins one
 * @property {(launcher: import('../processes/launcher.mjs').Launcher, folder: string, name: string) => Promise<void>}
 *   fetch writes the program to `name` in an empty folder, with everything that it needs to run
 */

/**
 * Finds a program that runs on this machine: on PATH, in the cache, or from the first source that works. PATH is
 * skipped if the program's variable is `pinned`, so that tests can run on a known release, whatever is installed.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @param {import('./start-databases.mjs').Database} database
 * @returns {Promise<{path: string, version: string}>}
 */
export async function findBinary(launcher, database) {
  const { name, sources } = database;
  const attempts = [
    ['on PATH', () => fromPath(launcher, database)],
    ['in the cache', () => fromCache(launcher, database)],
    ...sources.map((source) => [source.title, () => fromSource(launcher, database, source)]),
  ];
  if (process.env[database.variable] === 'pinned') attempts.shift();
  for (const [title, attempt] of attempts) {
    const found = await launcher.steps.attempt(`${name} ${title}`, attempt);
    if (found) return found;
  }
  throw new StepError(`No ${database.title} could be found or fetched`, { hint: database.hint });
}

async function fromPath(launcher, database) {
  const reasons = [];
  for (const path of database.programs) {
    try {
      return { path, version: await versionOf(launcher, database, path) };
    } catch (error) {
      reasons.push(error.message);
    }
  }
  throw new StepError(reasons.join('; '));
}

async function fromCache(launcher, database) {
  const cache = cacheFolder();
  const folder = database.sources.map((source) => join(cache, source.folder)).find(existsSync);
  if (folder === undefined) throw new StepError('none yet');
  const path = join(folder, database.name);
  try {
    return { path, version: await versionOf(launcher, database, path) };
  } catch (error) {
    rmSync(folder, { recursive: true }); // It is damaged, and fetched again.
    throw error;
  }
}

/** Fetches a program into a temporary folder, which is then renamed: no other process ever sees a part of it. */
async function fromSource(launcher, database, source) {
  const cache = cacheFolder();
  const folder = join(cache, source.folder);
  const fresh = launcher.temporaryFolder(cache);
  await source.fetch(launcher, fresh, database.name);
  chmodSync(join(fresh, database.name), 0o755);
  const version = await versionOf(launcher, database, join(fresh, database.name));
  // If another process was faster, its copy is used.
  if (!existsSync(folder)) renameSync(fresh, folder);
  return { path: join(folder, database.name), version };
}
