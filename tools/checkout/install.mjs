// Imported first by every tool: installs the dependencies unless they already match the lock file. Whatever uses one of
// them is imported afterwards, dynamically.
import '../node-version.mjs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning } from '../processes/stop-in-order.mjs';
import { Steps } from '../steps.mjs';
import { waitUntil } from '../wait-until.mjs';
import { LOCAL, ROOT } from './root.mjs';

// Building and testing need the development dependencies and native binaries, whatever NODE_ENV and .npmrc say.
const ARGUMENTS = ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
const LOCK = join(LOCAL, 'install.lock');
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
const INTERRUPTED = 130;
const FAILED = 2;

if (!isInstalled()) {
  const isDone = await installAlone().catch((error) => new Steps(process.stderr).fail(error));
  if (!isDone) process.exit(FAILED);
}

/** Returns whether the dependencies are installed now. If they are not, npm has printed why. */
async function installAlone() {
  mkdirSync(LOCAL, { recursive: true });
  // The first attempt removes a lock that does not count.
  if (!tryLock() && !tryLock()) {
    console.error(`Waiting for the npm ci of another run (see ${LOCK})`);
    await waitUntil(tryLock);
  }
  try {
    return isInstalled() || (await install());
  } finally {
    unlock();
  }
}

/**
 * Two runs in one checkout would delete each other's files. The lock of a process that has exited does not count.
 * The lock is a link to the pid. A file would be empty until it is written, and stay empty on a full disk.
 */
function tryLock() {
  try {
    symlinkSync(String(process.pid), LOCK);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (!isLocked()) unlock();
    return false;
  }
}

function isLocked() {
  try {
    return isRunning(Number(readlinkSync(LOCK)));
  } catch {
    return false; // It is removed already, or no link.
  }
}

/** Another run may have removed the lock already, once npm had exited. */
function unlock() {
  rmSync(LOCK, { force: true });
}

/** Returns whether npm ci has succeeded. */
async function install() {
  console.error('Install dependencies (npm ci)');
  const npm = spawn('npm', ARGUMENTS, { cwd: ROOT, stdio: ['ignore', process.stderr, process.stderr] });
  await once(npm, 'spawn');
  // npm keeps running if this process is killed.
  symlinkSync(String(npm.pid), `${LOCK}.${npm.pid}`);
  renameSync(`${LOCK}.${npm.pid}`, LOCK);
  const stop = () => {
    // npm defers SIGTERM until it is done. The next run repeats an installation that is cut short.
    npm.kill('SIGKILL');
    unlock();
    process.exit(INTERRUPTED);
  };
  for (const name of SIGNALS) process.once(name, stop);
  const [code] = await once(npm, 'exit');
  for (const name of SIGNALS) process.off(name, stop);
  return code === 0;
}

/**
 * Compares the lock file with the hidden one, in which npm records what it has installed. This detects an edited lock
 * file, an install without development dependencies and an interrupted install. Packages installed by hand are ignored.
 * @see https://docs.npmjs.com/cli/configuring-npm/package-lock-json#hidden-lockfiles
 */
function isInstalled() {
  const wanted = packagesIn('package-lock.json');
  const installed = packagesIn(join('node_modules', '.package-lock.json'));
  if (!wanted || !installed) return false;
  return Object.entries(wanted).every(([path, details]) => {
    // The empty path is the checkout itself.
    if (path === '' || installed[path]?.version === details.version) return true;
    return details.optional && !installed[path] && !isForThisPlatform(details);
  });
}

/** Returns whether npm always installs this optional package here. It may omit those that are for any platform. */
function isForThisPlatform({ os, cpu, libc }) {
  if (!os && !cpu) return false;
  return allows(os, process.platform) && allows(cpu, process.arch) && (!libc || allows(libc, libcOfThisPlatform()));
}

/** @see https://docs.npmjs.com/cli/configuring-npm/package-json#os */
function allows(names = [], name) {
  return !names.includes(`!${name}`) && (names.includes(name) || names.every((each) => each.startsWith('!')));
}

function libcOfThisPlatform() {
  if (process.platform !== 'linux') return undefined;
  return process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl';
}

/** Returns nothing if the file is missing or damaged. npm replaces its own, and says what is wrong with the other. */
function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(join(ROOT, file), 'utf8')).packages;
  } catch {
    return undefined;
  }
}
