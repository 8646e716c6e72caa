import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../checkout/root.mjs';
import { waitUntilReady } from '../processes/child.mjs';
import { StepError } from '../steps.mjs';

const TIMEOUT_MS = 2000;

/** Runs one of the commands in apps/cli of a checkout to completion, and prints its output. */
export async function runCli(launcher, name, env, root = ROOT) {
  const options = { name, env, cwd: root, onLine: prefixed(launcher, name) };
  await launcher.run(process.execPath, [cliScript(name, root)], options).catch((error) => {
    throw new StepError(error.message, { hint: `see its output above, marked [${name}]` });
  });
}

/** Returns whether a setting is in the environment, or in a file that is named there. An empty variable counts as missing. */
export function isSet(name) {
  return Boolean(process.env[name] || process.env[`${name}_FILE`]);
}

export function cliScript(name, root = ROOT) {
  return join(root, 'dist', 'apps', 'cli', 'src', `${name}.js`);
}

/** Starts the API or the worker of a checkout, and waits until it reports on this port that it is ready. */
export async function startService(launcher, name, port, env, root = ROOT) {
  const options = { env, cwd: root, onLine: prefixed(launcher, name) };
  const child = launcher.start(name, process.execPath, serviceArguments(name, root), options);
  await waitUntilReady(child, () => isReady(port));
  launcher.watch(child);
}

/** Returns the arguments that `npm run start:api` or `start:worker` passes to Node.js. */
export function serviceArguments(name, root = ROOT) {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [, , ...rest] = scripts[`start:${name}`].split(' ');
  return rest;
}

async function isReady(port) {
  const response = await fetch(`http://127.0.0.1:${port}/health/ready`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  const body = await response.text();
  if (!response.ok) throw new Error(`/health/ready responded with ${response.status} ${body}`);
  return true;
}

function prefixed(launcher, name) {
  return (line) => launcher.steps.print(`[${name}] ${line}`);
}
