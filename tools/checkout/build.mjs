import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { StepError } from '../steps.mjs';
import { withLock } from './with-lock.mjs';
import { ROOT } from './root.mjs';

const STAMP = join(ROOT, 'dist', '.build-stamp');
const FOLDERS = ['apps', 'libs'];
const FILES = /^(tsconfig.*\.json|nest-cli\.json|\.swcrc|package\.json|package-lock\.json)$/;
const TESTS = /\.(spec|int-spec)\.ts$/;

/**
 * Builds `dist/` unless it is up to date with the sources.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 */
export async function buildIfNeeded(launcher) {
  if (isBuilt(digestOfSources())) return;
  await withLock(launcher, 'build', async () => {
    const digest = digestOfSources();
    if (!isBuilt(digest)) await launcher.steps.run('Build (npm run build)', () => build(launcher, digest));
  });
}

async function build(launcher, digest) {
  // Removed first: an interrupted build leaves a mix of old and new files, which must not count as up to date.
  rmSync(STAMP, { force: true });
  await launcher.run('npm', ['run', '--silent', 'build'], { cwd: ROOT }).catch((error) => {
    throw new StepError(error.message, { details: error.details, hint: 'fix the compiler errors' });
  });
  writeFileSync(STAMP, digest);
}

function isBuilt(digest) {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === digest;
}

function digestOfSources() {
  const settings = readdirSync(ROOT)
    .filter((name) => FILES.test(name))
    .map((name) => join(ROOT, name));
  const sources = FOLDERS.flatMap((folder) => filesIn(join(ROOT, folder))).filter((path) => !TESTS.test(path));
  const digest = createHash('sha256');
  for (const path of [...settings, ...sources].sort()) {
    digest
      .update(`${relative(ROOT, path)}\0`)
      .update(readFileSync(path))
      .update('\0');
  }
  return digest.digest('hex');
}

function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
