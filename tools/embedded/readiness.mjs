import { setTimeout as delay } from 'node:timers/promises';
import { describeExit } from '../processes/child.mjs';
import { StepError } from '../steps.mjs';

const POLL_INTERVAL_MS = 50;
const DEADLINE_MS = 60_000;

/** Waits until a child is ready. Throws if it exits first or takes too long. `isReady` may reject until then. */
export async function waitUntilReady(child, isReady) {
  let exit;
  child.exited.then((value) => (exit = value));
  const fail = (predicate) => {
    throw new StepError(`${child.name} ${predicate}`, { details: child.reportLines() });
  };
  const deadline = performance.now() + DEADLINE_MS;
  let reason;
  while (!(await isReady().catch((error) => void (reason = error.message)))) {
    if (exit) fail(`${describeExit(exit)} before it was ready`);
    if (performance.now() > deadline) fail(`is not ready after ${DEADLINE_MS / 1000} s: ${reason}`);
    await delay(POLL_INTERVAL_MS);
  }
}
