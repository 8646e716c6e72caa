import { setTimeout as delay } from 'node:timers/promises';
import { describeExit } from '../processes/child.mjs';
import { StepError } from '../steps.mjs';

const POLL_INTERVAL_MS = 50;
const DEADLINE_MS = 60_000;

/**
 * Waits until a child is ready. Throws if it exits first or takes too long.
 * @param {import('../processes/child.mjs').Child} child
 * @param {() => Promise<boolean>} isReady may reject while it is not ready; the last reason is reported
 */
export async function waitUntilReady(child, isReady) {
  let exit;
  child.exited.then((value) => (exit = value));
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const { ready, reason } = await check(isReady);
    if (ready) return;
    if (exit) throw failure(child, `${describeExit(exit)} before it was ready`);
    if (performance.now() > deadline) throw failure(child, `is not ready after ${DEADLINE_MS / 1000} s: ${reason}`);
    await delay(POLL_INTERVAL_MS);
  }
}

async function check(isReady) {
  try {
    return { ready: await isReady(), reason: 'still starting' };
  } catch (error) {
    return { ready: false, reason: error.message };
  }
}

function failure(child, predicate) {
  return new StepError(`${child.name} ${predicate}`, { details: child.reportLines() });
}
