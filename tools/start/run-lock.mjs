import { join } from 'node:path';
import { LOCAL } from '../checkout/root.mjs';
import { claim } from '../processes/claim.mjs';
import { isGroupRunning } from '../processes/identity.mjs';
import { stopInOrder } from '../processes/stop-in-order.mjs';
import { StepError } from '../steps.mjs';

/**
 * Makes this the only run in this checkout, see {@link tryRunLock}, or refuses.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 */
export async function acquireRunLock(launcher) {
  const { holder, note } = await tryRunLock(launcher);
  if (holder) throw new StepError(`Already running here, pid ${holder.pid}, ${holder.url ?? 'just starting'}`);
  return note;
}

/**
 * Makes this the only run in this checkout, unless there is one: two would write the same data. Of a run that was killed,
 * what is still running is stopped first.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @returns {Promise<{holder: {pid: number, url?: string, mongodbUri?: string}} | {note: (details?: object) => void}>}
 * the other run; or what is to be called when something was started, and with what others should know once all is up
 */
export async function tryRunLock(launcher) {
  const mine = await claim(join(LOCAL, 'npm-start.json'));
  if (mine.holder) return { holder: mine.holder };
  launcher.giveBack(mine.release);
  const leftovers = (mine.former?.targets ?? []).filter(isGroupRunning);
  if (leftovers.length > 0) {
    const names = leftovers.map((target) => target.name).join(', ');
    await launcher.steps.run(`Stop what a killed run left behind: ${names}`, () => stopInOrder(leftovers));
  }
  return { note: (details) => mine.update({ ...details, targets: launcher.targets }) };
}
