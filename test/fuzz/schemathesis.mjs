import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { ROOT } from '../../tools/checkout/root.mjs';
import { cacheFolder } from '../../tools/embedded/cache-folder.mjs';
import { StepError } from '../../tools/steps.mjs';

const HERE = join(ROOT, 'test', 'fuzz');
const REQUIREMENTS = join(HERE, 'requirements.txt');

/**
 * Installs schemathesis into its own folder in the cache, isolated from the Python packages of the machine.
 * @param {import('../../tools/processes/launcher.mjs').Launcher} launcher
 * @returns {Promise<{command: string[], env: NodeJS.ProcessEnv}>} how to run it
 */
export async function installSchemathesis(launcher) {
  const python = await launcher.run('python3', ['--version']);
  const digest = createHash('sha256').update(python).update(readFileSync(REQUIREMENTS)).digest('hex');
  const folder = join(cacheFolder(), `schemathesis-${digest.slice(0, 8)}`);
  if (!existsSync(folder)) await launcher.steps.run('Install schemathesis from PyPI', () => install(launcher, folder));
  return { command: ['python3', join(folder, 'bin', 'schemathesis')], env: environment(folder) };
}

/** Installs atomically: the folder is renamed into place once it is complete. */
async function install(launcher, folder) {
  const fresh = launcher.temporaryFolder(cacheFolder());
  const args = ['-m', 'pip', 'install', '--only-binary', ':all:', '--target', fresh, '--requirement', REQUIREMENTS];
  const env = { ...process.env, PIP_DISABLE_PIP_VERSION_CHECK: '1', PIP_ROOT_USER_ACTION: 'ignore' };
  await launcher.run('python3', args, { name: 'pip', env }).catch((error) => {
    const hint = 'pip and Python 3.10 or newer are needed';
    throw new StepError(error.message, { details: error.details, hint });
  });
  // If another process was faster, its folder is used.
  await rename(fresh, folder).catch((error) => {
    if (!existsSync(folder)) throw error;
  });
}

function environment(folder) {
  const { PYTHONPATH, ...env } = process.env;
  return {
    ...env,
    PYTHONPATH: [folder, PYTHONPATH].filter(Boolean).join(delimiter),
    PYTHONDONTWRITEBYTECODE: '1',
    SCHEMATHESIS_HOOKS: join(HERE, 'hooks.py'),
    NO_PROXY: '127.0.0.1',
  };
}
