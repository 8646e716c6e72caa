import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StepError } from '../steps.mjs';
import { withLock } from './with-lock.mjs';
import { ROOT } from './root.mjs';

/**
 * Installs the dependencies unless what is installed is what the lock file says.
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
  const quietly = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  await launcher.run('npm', ['ci', ...quietly], { cwd: ROOT }).catch((error) => {
    throw new StepError(error.message, { details: error.details, hint: 'run `npm ci` and see what it needs' });
  });
}

/**
 * npm notes what it has installed in the form of the lock file. Comparing the two finds out about an edited lock file,
 * an install without development dependencies and one broken off, and leaves alone what someone installed by hand.
 */
function isInstalled() {
  const wanted = packagesIn('package-lock.json');
  const installed = packagesIn(join('node_modules', '.package-lock.json'));
  if (wanted === undefined || installed === undefined) return false;
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    // The entry of the checkout itself has the empty path; optional packages for other systems are never installed.
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
