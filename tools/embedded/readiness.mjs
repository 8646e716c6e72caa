import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describeExit } from '../processes/child.mjs';
import { StepError } from '../steps.mjs';

const POLL_INTERVAL_MS = 50;
const DEADLINE_MS = 60_000;
const SHOWN_LINES = 10;

/**
 * Waits until a child is ready. Throws if it exits first or takes too long.
 * @param {import('../processes/child.mjs').Child} child
 * @param {() => Promise<boolean>} isReady may reject while it is not ready; the last reason is reported
 */
export async function waitUntilReady(child, isReady) {
  let exit;
  let reason = '';
  child.exited.then((value) => (exit = value));
  const deadline = performance.now() + DEADLINE_MS;
  while (!(await tryIsReady(isReady, (error) => (reason = `: ${error.message}`)))) {
    if (exit) throw failure(child, `${describeExit(exit)} before it was ready`);
    if (performance.now() > deadline) throw failure(child, `is not ready after ${DEADLINE_MS / 1000} s${reason}`);
    await delay(POLL_INTERVAL_MS);
  }
}

async function tryIsReady(isReady, onError) {
  try {
    return await isReady();
  } catch (error) {
    onError(error);
    return false;
  }
}

function failure(child, predicate) {
  return new StepError(`${child.name} ${predicate}`, { details: child.reportLines() });
}

/** Returns the last lines of a log file, if it can be read. `isRelevant` selects lines. */
export function lastLinesOf(file, isRelevant = () => true) {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').filter(isRelevant).slice(-SHOWN_LINES);
  } catch {
    return [];
  }
}
