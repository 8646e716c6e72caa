import { describeExit } from '../processes/child.mjs';
import { StepError } from '../steps.mjs';
import { waitUntil } from '../wait-until.mjs';

const DEADLINE_MS = 60_000;

/** Waits until a child is ready. Throws if it exits first or takes too long. `isReady` may reject until then. */
export async function waitUntilReady(child, isReady) {
  let exit;
  let reason;
  child.exited.then((value) => (exit = value));
  const isDecided = async () => exit || (await isReady().catch((error) => void (reason = error.message)));
  const isInTime = await waitUntil(isDecided, { everyMs: 50, withinMs: DEADLINE_MS });
  if (isInTime && !exit) return;
  const outcome = exit
    ? `${describeExit(exit)} before it was ready`
    : `is not ready after ${DEADLINE_MS / 1000} s: ${reason}`;
  throw new StepError(`${child.name} ${outcome}`, { details: child.reportLines() });
}
