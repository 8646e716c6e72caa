import { setTimeout as delay } from 'node:timers/promises';
import { StepError } from '../../tools/steps.mjs';

const POLL_INTERVAL_MS = 500;

/** @throws StepError with this message, unless the condition is true */
export function expect(isTrue, message) {
  if (!isTrue) throw new StepError(message);
}

/**
 * Polls until nothing is wrong. Throws the last problem when the time is up.
 * @param {number} ms
 * @param {() => Promise<string | undefined>} findProblem resolves to undefined when nothing is wrong
 */
export async function waitUntil(ms, findProblem) {
  const end = Date.now() + ms;
  for (;;) {
    const problem = await findProblem();
    if (problem === undefined) return;
    expect(Date.now() < end, `After ${ms / 1000} s: ${problem}`);
    await delay(POLL_INTERVAL_MS);
  }
}
