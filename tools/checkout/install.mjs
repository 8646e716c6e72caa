import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StepError } from '../steps.mjs';
import { withLock } from './with-lock.mjs';
import { ROOT } from './root.mjs';

/**
 * Installs the dependencies unless they already match the lock file.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 */
export async function installIfNeeded(launcher) {
  if (isInstalled()) return;
  await withLock(launcher, 'install', async () => {
    if (!isInstalled()) await launcher.steps.run('Install dependencies (npm ci)', () => install(launcher));
  });
}

async function install(launcher) {
  // Building and testing need the development dependencies, whatever NODE_ENV says.
  const flags = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  await launcher.run('npm', ['ci', ...flags], { cwd: ROOT }).catch((error) => {
    throw new StepError(error.message, { details: error.details, hint: 'run `npm ci` and see what it needs' });
  });
}

/**
 * Compares the lock file with the hidden one, in which npm records what it has installed. This detects an edited lock
 * file, an install without development dependencies and an interrupted install. Packages installed by hand are ignored.
 * @see https://docs.npmjs.com/cli/configuring-npm/package-lock-json#hidden-lockfiles
 */
function isInstalled() {
  const wanted = packagesIn('package-lock.json');
  const installed = packagesIn(join('node_modules', '.package-lock.json'));
  if (wanted === undefined || installed === undefined) return false;
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    // The empty path is the checkout itself. Optional packages for other platforms are never installed.
    return path === '' || (optional && !installed[path]) || installed[path]?.version === version;
  });
}

function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(join(ROOT, file), 'utf8')).packages;
  } catch {
    return undefined;
  }
}
