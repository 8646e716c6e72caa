import { createHash } from 'node:crypto';
import { chmodSync, createReadStream, existsSync, readdirSync, readlinkSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { StepError } from '../steps.mjs';
import { cacheFolder } from './cache-folder.mjs';
import { versionOf } from './version-of.mjs';

const MANIFEST = 'manifest.json';

/**
 * Returns a program from the cache, from the first source that has been fetched. Throws if there is none, or if its
 * files have changed since.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @param {import('./specs.mjs').Spec} spec
 * @param {{outcome?: string}} step
 */
export async function fromCache(launcher, spec, step) {
  const cache = cacheFolder(launcher.steps);
  const folder = spec.sources.map((source) => join(cache, source.folder)).find(existsSync);
  if (folder === undefined) throw new StepError('none yet');
  const found = await check(launcher, spec, folder);
  step.outcome = `${spec.name} in the cache: ${found.path}, ${found.version}`;
  return found;
}

/**
 * Fetches a program into the cache atomically. It is assembled in a temporary folder, tried out, and then renamed into
 * place, so that another process never sees part of it.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @param {import('./specs.mjs').Spec} spec
 * @param {import('./find-binary.mjs').Source} source
 * @param {{outcome?: string, handOver: () => number | undefined}} step
 */
export async function installIntoCache(launcher, spec, source, step) {
  const cache = cacheFolder(launcher.steps);
  const fresh = launcher.temporaryFolder(cache);
  const path = join(fresh, spec.name);
  const fetched = await source.fetch(path, { launcher, step });
  chmodSync(path, 0o755);
  const version = await versionOf(launcher, spec, path);
  await writeFile(join(fresh, MANIFEST), JSON.stringify({ version, sha256: await sha256OfFolder(fresh) }));
  step.outcome = `${spec.name} ${source.title}: ${version}, ${fetched}`;
  return putInPlace(launcher, spec, fresh, join(cache, source.folder));
}

async function putInPlace(launcher, spec, fresh, final) {
  if (await tryRename(fresh, final)) return check(launcher, spec, final);
  // Another process was faster, and its copy is used. Or the existing copy is damaged, and is moved out of the way.
  const theirs = await check(launcher, spec, final).catch(() => undefined);
  if (theirs) return theirs;
  await tryRename(final, join(launcher.temporaryFolder(cacheFolder(launcher.steps)), 'damaged'));
  await tryRename(fresh, final);
  return check(launcher, spec, final);
}

async function tryRename(from, to) {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(error.code)) return false;
    throw error;
  }
}

async function check(launcher, spec, folder) {
  const manifest = await readFile(join(folder, MANIFEST), 'utf8')
    .then(JSON.parse)
    .catch(() => undefined);
  if (manifest === undefined || manifest.sha256 !== (await sha256OfFolder(folder))) {
    throw new StepError(`${folder} is damaged and will be fetched again`);
  }
  const path = join(folder, spec.name);
  return { path, version: await versionOf(launcher, spec, path) };
}

/** Returns one digest of all file names and contents in a folder, except for the manifest, which stores it. */
async function sha256OfFolder(folder) {
  const digest = createHash('sha256');
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  const paths = entries.map((entry) => [join(entry.parentPath ?? entry.path, entry.name), entry.isSymbolicLink()]);
  for (const [path, isLink] of paths.sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (path === join(folder, MANIFEST)) continue;
    digest.update(`${path.slice(folder.length)}\0${isLink ? readlinkSync(path) : await sha256Of(path)}\0`);
  }
  return digest.digest('hex');
}

/** Returns the SHA-256 of a file in hexadecimal. */
export async function sha256Of(path) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}
