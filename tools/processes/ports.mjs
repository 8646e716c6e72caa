import { tmpdir } from 'node:os';
import { join } from 'node:path';
import getPort, { portNumbers } from 'get-port';
import { StepError } from '../steps.mjs';
import { tryLock } from './lock.mjs';

const TRIES = 200;
const RESERVED = join(tmpdir(), `item-listing-service-ports-${process.getuid()}`);

/**
 * Reserves the port in an environment variable or, if it is not set, the usual port or the next free one.
 * An unused port may be reserved already: another launcher has chosen it for a child that is not listening yet.
 */
export async function reservePort(launcher, usual, variable) {
  const requested = process.env[variable];
  for (const port of requested ? [Number(requested)] : portNumbers(usual, usual + TRIES)) {
    const isFree = (await getPort({ port }).catch(() => undefined)) === port;
    if (isFree && (await tryLock(launcher, join(RESERVED, String(port))))) return port;
  }
  if (!requested) throw new StepError(`No free port from ${usual} on`);
  throw new StepError(`Port ${requested} (${variable}) is in use or invalid`, {
    hint: `free it, or unset ${variable} to have one chosen`,
  });
}
