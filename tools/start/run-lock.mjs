import { join } from 'node:path';
import { LOCAL } from '../checkout/root.mjs';
import { claim } from '../processes/claim.mjs';
import { isGroupRunning } from '../processes/identity.mjs';
import { stopInOrder } from '../processes/stop-in-order.mjs';
import { StepError } from '../steps.mjs';

/**
 * Makes this the only run in this checkout, like {@link tryRunLock}, but throws if there is another.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 */
export async function acquireRunLock(launcher) {
  const { holder, record } = await tryRunLock(launcher);
  if (holder) throw new StepError(`Already running here, pid ${holder.pid}, ${holder.url ?? 'just starting'}`);
  return record;
}

/**
 * Makes this the only run in this checkout, unless there is another: two would write the same data. First stops
 * whatever a killed run has left running.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @returns {Promise<{holder: {pid: number, url?: string, mongodbUri?: string}} | {record: (details?: object) => void}>}
 * the other run; or `record`, to be called after each start, and with details for other tools once everything is up
 */
export async function tryRunLock(launcher) {
  const lock = await claim(join(LOCAL, 'npm-start.json'));
  if (lock.holder) return { holder: lock.holder };
  launcher.addCleanup(lock.release);
  const leftovers = (lock.former?.targets ?? []).filter(isGroupRunning);
  if (leftovers.length > 0) {
    const names = leftovers.map((target) => target.name).join(', ');
    await launcher.steps.run(`Stop what a killed run left behind: ${names}`, () => stopInOrder(leftovers));
  }
  return { record: (details) => lock.update({ ...details, targets: launcher.targets }) };
}
