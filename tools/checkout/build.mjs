import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { lock } from 'proper-lockfile';
import { LOCAL, ROOT } from './root.mjs';

const STAMP = join(ROOT, 'dist', '.build-stamp');
const SETTINGS = /^(tsconfig.*\.json|nest-cli\.json|\.swcrc|package\.json|package-lock\.json)$/;
/** All files except tests. */
const SOURCES = /(?<!\.spec|\.int-spec)\.\w+$/;

/** Builds `dist/` unless it is up to date with the sources. */
export async function buildIfNeeded(launcher) {
  if (isBuilt()) return;
  await launcher.steps.run('Build (npm run build)', async () => {
    mkdirSync(LOCAL, { recursive: true });
    // Waits for another run in this checkout: they would delete each other's files.
    const retries = { forever: true, minTimeout: 300, maxTimeout: 300 };
    const release = await lock(join(LOCAL, 'build'), { realpath: false, retries });
    if (!isBuilt()) await build(launcher);
    await release();
  });
}

async function build(launcher) {
  const digest = digestOfSources();
  // Removed first: an interrupted build leaves a mix of old and new files, which must not count as up to date.
  rmSync(STAMP, { force: true });
  await launcher.run('npm', ['run', '--silent', 'build'], { name: 'npm run build', cwd: ROOT });
  writeFileSync(STAMP, digest);
}

function isBuilt() {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === digestOfSources();
}

function digestOfSources() {
  const settings = readdirSync(ROOT).filter((name) => SETTINGS.test(name));
  const sources = ['apps', 'libs'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((name) => join(folder, name)),
  );
  // Editors keep hidden files beside the sources. That of Emacs cannot be read.
  const isSource = (path) => SOURCES.test(path) && !basename(path).startsWith('.');
  const files = [...settings, ...sources.filter(isSource)];
  const digest = createHash('sha256');
  for (const file of files.sort()) digest.update(`${file}\0`).update(readFileSync(join(ROOT, file)));
  return digest.digest('hex');
}
