import { join } from 'node:path';
import { LOCAL } from '../checkout/root.mjs';
import { claim } from '../processes/claim.mjs';
import { isGroupRunning } from '../processes/identity.mjs';
import { stopInOrder } from '../processes/stop-in-order.mjs';
import { StepError } from '../steps.mjs';

/**
 * Makes this the only run in this checkout: two would write the same data. Of a run that was killed, what is still
 * running is stopped first.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @returns {Promise<(url?: string) => void>} to be called when something was started, and with the URL once there is one
 */
export async function becomeOnlyRun(launcher) {
  const mine = await claim(join(LOCAL, 'npm-start.json'));
  if (mine.holder) {
    const { pid, url } = mine.holder;
    throw new StepError(`Already running here, pid ${pid}, ${url ?? 'just starting'}`);
  }
  launcher.giveBack(mine.release);
  const leftovers = (mine.former?.targets ?? []).filter(isGroupRunning);
  if (leftovers.length > 0) {
    const names = leftovers.map((target) => target.name).join(', ');
    await launcher.steps.run(`Stop what a killed run left behind: ${names}`, () => stopInOrder(leftovers));
  }
  return (url) => mine.update({ url, targets: launcher.targets });
}
