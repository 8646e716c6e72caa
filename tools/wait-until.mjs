import { setTimeout as delay } from 'node:timers/promises';

/** Polls a condition until it is true. Returns false if it is still not after `withinMs`. */
export async function waitUntil(condition, { everyMs = 100, withinMs = Infinity } = {}) {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await delay(everyMs);
  }
  return true;
}
