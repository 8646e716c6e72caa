import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { claim } from '../processes/claim.mjs';
import { LOCAL } from './root.mjs';

const LOOK_EVERY_MS = 300;

/**
 * Does something to the checkout that no two runs may do at once: `npm start` and `npm test` in two terminals would
 * pull each other's `node_modules` or `dist` away.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @param {string} what
 * @param {() => Promise<void>} work should look again whether it is still needed
 */
export async function withLock(launcher, what, work) {
  const file = join(LOCAL, `${what}.lock`);
  let mine = await claim(file);
  if (mine.holder) launcher.steps.say(`Waiting for the ${what} of another run (pid ${mine.holder.pid})`);
  while (mine.holder) {
    await delay(LOOK_EVERY_MS);
    mine = await claim(file);
  }
  launcher.giveBack(mine.release);
  await work();
  mine.release();
}
