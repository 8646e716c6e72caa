import { setTimeout as delay } from 'node:timers/promises';
import { StepError } from '../steps.mjs';

const LOOK_EVERY_MS = 500;

/** @throws StepError `otherwise`, which is what a person is to read */
export function expect(isTrue, otherwise) {
  if (!isTrue) throw new StepError(otherwise);
}

/**
 * Looks again and again until there is nothing left to say; then it fails with what was said last.
 * @param {number} ms
 * @param {() => Promise<string | undefined>} whatIsWrong
 */
export async function until(ms, whatIsWrong) {
  const end = Date.now() + ms;
  for (;;) {
    const wrong = await whatIsWrong();
    if (wrong === undefined) return;
    expect(Date.now() < end, `After ${ms / 1000} s: ${wrong}`);
    await delay(LOOK_EVERY_MS);
  }
}
