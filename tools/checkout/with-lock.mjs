import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { claim } from '../processes/claim.mjs';
import { LOCAL } from './root.mjs';

const POLL_INTERVAL_MS = 300;

/**
 * Runs work that only one run in this checkout may do at a time: `npm start` and `npm test` in two terminals would
 * otherwise delete each other's `node_modules` or `dist`.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @param {string} what name of the lock, also for the message
 * @param {() => Promise<void>} work has to check again whether it is still needed
 */
export async function withLock(launcher, what, work) {
  const file = join(LOCAL, `${what}.lock`);
  let lock = await claim(file);
  if (lock.holder) launcher.steps.print(`Waiting for the ${what} of another run (pid ${lock.holder.pid})`);
  while (lock.holder) {
    await delay(POLL_INTERVAL_MS);
    lock = await claim(file);
  }
  launcher.addCleanup(lock.release);
  await work();
  lock.release();
}
