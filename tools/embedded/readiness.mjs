import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describeExit } from '../processes/child.mjs';
import { StepError } from '../steps.mjs';

const LOOK_EVERY_MS = 50;
const DEADLINE_MS = 60_000;
const SHOWN_LINES = 10;

/**
 * Waits until a child is ready, and no longer than it lives.
 * @param {import('../processes/child.mjs').Child} child
 * @param {() => Promise<boolean>} isReady may fail as long as the answer is no, telling why
 */
export async function untilReady(child, isReady) {
  let exit;
  let reason = '';
  child.exited.then((value) => (exit = value));
  const deadline = performance.now() + DEADLINE_MS;
  while (!(await asked(isReady, (error) => (reason = `: ${error.message}`)))) {
    if (exit) throw failure(child, `${describeExit(exit)} before it was ready`);
    if (performance.now() > deadline) throw failure(child, `is not ready after ${DEADLINE_MS / 1000} s${reason}`);
    await delay(LOOK_EVERY_MS);
  }
}

async function asked(isReady, onError) {
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

/** The end of a log file, for the report when its writer has ended by itself; `matters` picks lines. */
export function lastLinesOf(file, matters = () => true) {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').filter(matters).slice(-SHOWN_LINES);
  } catch {
    return [];
  }
}
