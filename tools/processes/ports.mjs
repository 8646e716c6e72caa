import { tmpdir } from 'node:os';
import { join } from 'node:path';
import getPort, { portNumbers } from 'get-port';
import { StepError } from '../steps.mjs';
import { tryLock } from './lock.mjs';

const TRIES = 200;
const RESERVED = join(tmpdir(), `item-listing-service-ports-${process.getuid()}`);

/** Returns an unused port, chosen by the operating system. */
export async function anyFreePort() {
  return getPort();
}

/**
 * Reserves the preferred port or the next free one for as long as this tool runs. An unused port may still be reserved:
 * another launcher may just have chosen it for a child that is not listening yet.
 * @param {import('./launcher.mjs').Launcher} launcher
 * @param {number} preferred
 */
export async function reservePort(launcher, preferred) {
  for (const port of portNumbers(preferred, preferred + TRIES)) {
    if (await reserve(launcher, port)) return port;
  }
  throw new StepError(`No free port from ${preferred} on`);
}

/**
 * Reserves the port in an environment variable, and no other.
 * @param {import('./launcher.mjs').Launcher} launcher
 * @param {string} variable its name
 */
export async function reserveRequestedPort(launcher, variable) {
  const port = Number(process.env[variable]);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new StepError(`${variable} must be a whole number from 1 to 65535`);
  }
  if (await reserve(launcher, port)) return port;
  throw new StepError(`Port ${port} (${variable}) is in use`, {
    hint: `free it, or unset ${variable} to have one chosen`,
  });
}

async function reserve(launcher, port) {
  return (await getPort({ port })) === port && tryLock(launcher, join(RESERVED, String(port)));
}
