import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../checkout/root.mjs';
import { untilReady } from '../embedded/readiness.mjs';
import { StepError } from '../steps.mjs';

const ANSWER_MS = 2000;

/**
 * Runs one of the service's own commands to its end, its lines passed on.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @param {string} name of the command in apps/cli
 * @param {NodeJS.ProcessEnv} env
 * @param {string} [root] of the checkout whose command it is
 */
export async function runCli(launcher, name, env, root = ROOT) {
  const script = join(root, 'dist', 'apps', 'cli', 'src', `${name}.js`);
  const options = { name, env, cwd: root, onLine: prefixed(launcher, name) };
  await launcher.run(process.execPath, [script], options).catch((error) => {
    throw new StepError(error.message, { hint: `its lines above, marked [${name}], say why` });
  });
}

/**
 * Starts the API or the worker and waits until it says it is ready.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @param {'api' | 'worker'} name
 * @param {number} port where it tells about its health
 * @param {NodeJS.ProcessEnv} env
 * @param {string} [root] of the checkout whose process it is
 */
export async function startService(launcher, name, port, env, root = ROOT) {
  const options = { env, cwd: root, onLine: prefixed(launcher, name) };
  const child = launcher.start(name, process.execPath, serviceArguments(name, root), options);
  await untilReady(child, () => isReady(port));
  launcher.watch(child);
}

/**
 * What `npm run start:api` or `start:worker` gives to Node.js.
 * @param {'api' | 'worker'} name
 * @param {string} [root] of the checkout
 * @returns {string[]}
 */
export function serviceArguments(name, root = ROOT) {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [, , ...rest] = scripts[`start:${name}`].split(' ');
  return rest;
}

async function isReady(port) {
  const answer = await fetch(`http://127.0.0.1:${port}/health/ready`, { signal: AbortSignal.timeout(ANSWER_MS) });
  const body = await answer.text();
  if (!answer.ok) throw new Error(`/health/ready answers ${answer.status} ${body}`);
  return true;
}

function prefixed(launcher, name) {
  return (line) => launcher.steps.say(`[${name}] ${line}`);
}
