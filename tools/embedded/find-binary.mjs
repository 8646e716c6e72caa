import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StepError } from '../steps.mjs';
import { cacheFolder } from './cache-folder.mjs';

/**
 * Finds a program that runs on this machine: on PATH, in the cache, or from the first source that works. PATH is
 * skipped if the program's variable is `pinned`, so that tests can run on a known release, whatever is installed.
 * A source's `fetch(launcher, folder, name)` writes the program and whatever it needs to an empty folder, which becomes
 * `folder` in the cache. Its `title` follows the program's name in messages.
 */
export async function findBinary(launcher, database) {
  const { name, programs, sources, variable } = database;
  const onPath = process.env[variable] === 'pinned' ? [] : programs;
  const attempts = [
    ...onPath.map((program) => [`${program} on PATH`, () => tryOut(launcher, database, program)]),
    [`${name} in the cache`, () => fromCache(launcher, database)],
    ...sources.map((source) => [`${name} ${source.title}`, () => fromSource(launcher, database, source)]),
  ];
  for (const [title, attempt] of attempts) {
    const found = await launcher.steps.attempt(title, attempt);
    if (found) return found;
  }
  throw new StepError(`No ${database.title} could be found or fetched`, { hint: database.hint });
}

/** Throws if the program is built for another processor, lacks a library or is too old, before there is any data. */
async function tryOut(launcher, { title, versionArguments = ['--version'], versionPattern, minimum }, path) {
  const output = await launcher.run(path, versionArguments);
  const version = versionPattern.exec(output)?.[1];
  if (version === undefined) throw new StepError(`it is not ${title}`);
  if (compareVersions(version, minimum) < 0) {
    throw new StepError(`it is ${version}, but ${minimum} or newer is needed`);
  }
  return { path, version };
}

/** Returns the first copy that runs: a damaged one may be beside one from another source. */
async function fromCache(launcher, { sources, ...database }) {
  let failure = new StepError('none yet');
  for (const path of sources.map(({ folder }) => join(cacheFolder(), folder, database.name)).filter(existsSync)) {
    try {
      return await tryOut(launcher, database, path);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Fetches a program into a temporary folder, which is then renamed: no other process ever sees a part of it. */
async function fromSource(launcher, database, source) {
  const fresh = launcher.temporaryFolder(cacheFolder());
  await source.fetch(launcher, fresh, database.name);
  chmodSync(join(fresh, database.name), 0o755);
  await tryOut(launcher, database, join(fresh, database.name));
  const fasterProcess = await fromCache(launcher, database).catch(() => undefined);
  if (fasterProcess) return fasterProcess;
  const folder = join(cacheFolder(), source.folder);
  rmSync(folder, { recursive: true, force: true }); // A damaged copy.
  renameSync(fresh, folder);
  return fromCache(launcher, database);
}

/** Compares two dotted version numbers, like `sort`. */
export function compareVersions(a, b) {
  return a.localeCompare(b, 'en', { numeric: true });
}
