import { setTimeout as delay } from 'node:timers/promises';

const MIN_INTERVAL_MS = 10;
const MAX_INTERVAL_MS = 250;

/** Calls `attempt` until it succeeds. Throws its last error if it has not succeeded within `withinMs`. */
export async function eventually<T>(attempt: () => Promise<T> | T, withinMs = 30_000): Promise<T> {
  const since = Date.now();
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const waitedMs = Date.now() - since;
      if (waitedMs > withinMs) throw error;
      // The attempts themselves must not keep busy what they wait for.
      await delay(Math.min(Math.max(waitedMs / 10, MIN_INTERVAL_MS), MAX_INTERVAL_MS));
    }
  }
}
