import { setTimeout as delay } from 'node:timers/promises';

const MIN_INTERVAL_MS = 10;
const MAX_INTERVAL_MS = 250;

/** Calls `attempt` until it succeeds. Throws its error if it fails and was called after `withinMs`. */
export async function eventually<T>(attempt: () => Promise<T> | T, withinMs = 30_000): Promise<T> {
  const since = Date.now();
  for (;;) {
    const waitedMs = Date.now() - since;
    try {
      return await attempt();
    } catch (error) {
      if (waitedMs > withinMs) throw error;
      // The attempts themselves must not keep busy what they wait for.
      await delay(Math.min(Math.max(waitedMs / 10, MIN_INTERVAL_MS), MAX_INTERVAL_MS));
    }
  }
}
