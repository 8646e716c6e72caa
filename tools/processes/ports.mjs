import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StepError } from '../steps.mjs';
import { claim } from './claim.mjs';

const LOOPBACKS = ['127.0.0.1', '::1'];
const TRIES = 200;

/** Returns an unused port, chosen by the operating system. */
export async function anyFreePort() {
  const server = await listen(0);
  const { port } = server.address();
  await close(server);
  return port;
}

/**
 * Reserves the preferred port or the next free one for as long as this tool runs. An unused port may still be reserved:
 * another launcher may just have chosen it for a child that is not listening yet.
 * @param {import('./launcher.mjs').Launcher} launcher
 * @param {number} preferred
 */
export async function reservePort(launcher, preferred) {
  for (let port = preferred; port < preferred + TRIES && port <= 65_535; port += 1) {
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
  const reservation = await claim(join(tmpdir(), `item-listing-service-ports-${process.getuid()}`, String(port)));
  if (reservation.holder) return false;
  if (await isFree(port)) {
    launcher.addCleanup(reservation.release);
    return true;
  }
  reservation.release();
  return false;
}

/**
 * Whether nothing serves this port on `localhost`. Listening alone is no proof: it can succeed beside a program that
 * listens on all addresses or on IPv6 only.
 */
async function isFree(port) {
  const found = await Promise.all(LOOPBACKS.map((host) => isListening(host, port)));
  if (found.includes(true)) return false;
  try {
    await close(await listen(port));
    return true;
  } catch {
    return false;
  }
}

/** Whether anything accepts connections at this address. */
export function isListening(host, port) {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (isConnected) => {
      socket.destroy();
      resolve(isConnected);
    };
    socket.setTimeout(1000, () => settle(false));
    socket.once('connect', () => settle(true)).once('error', () => settle(false));
  });
}

function listen(port) {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

function close(server) {
  return new Promise((resolve) => server.close(resolve));
}
