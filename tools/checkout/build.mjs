import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { lock } from 'proper-lockfile';
import { StepError } from '../steps.mjs';
import { LOCAL, ROOT } from './root.mjs';

const STAMP = join(ROOT, 'dist', '.build-stamp');
const SETTINGS = /^(tsconfig.*\.json|nest-cli\.json|\.swcrc|package\.json|package-lock\.json)$/;
const TESTS = /\.(spec|int-spec)\.ts$/;
/** For another run in this checkout, which would delete the files of this one. */
const WAIT = { forever: true, minTimeout: 300, maxTimeout: 300 };

/**
 * Builds `dist/` unless it is up to date with the sources.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 */
export async function buildIfNeeded(launcher) {
  if (isBuilt()) return;
  await launcher.steps.run('Build (npm run build)', async () => {
    mkdirSync(LOCAL, { recursive: true });
    const release = await lock(join(LOCAL, 'build'), { realpath: false, retries: WAIT });
    if (!isBuilt()) await build(launcher);
    await release();
  });
}

async function build(launcher) {
  const digest = digestOfSources();
  // Removed first: an interrupted build leaves a mix of old and new files, which must not count as up to date.
  rmSync(STAMP, { force: true });
  await launcher.run('npm', ['run', '--silent', 'build'], { cwd: ROOT }).catch((error) => {
    throw new StepError(error.message, { details: error.details, hint: 'fix the compiler errors' });
  });
  writeFileSync(STAMP, digest);
}

function isBuilt() {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === digestOfSources();
}

function digestOfSources() {
  const settings = readdirSync(ROOT).filter((name) => SETTINGS.test(name));
  const sources = ['apps', 'libs'].flatMap(filesIn).filter((path) => !TESTS.test(path));
  const digest = createHash('sha256');
  for (const path of [...settings, ...sources].sort()) {
    digest.update(`${path}\0`).update(readFileSync(join(ROOT, path)));
  }
  return digest.digest('hex');
}

/** Returns the paths of all files in a folder, relative to the root of the checkout. */
function filesIn(folder) {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}
