import { setTimeout as delay } from 'node:timers/promises';

const INTERVAL_MS = 50;

/** Calls `attempt` until it succeeds. Throws its last error if it has not succeeded within `withinMs`. */
export async function eventually<T>(attempt: () => Promise<T> | T, withinMs = 15_000): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(INTERVAL_MS);
    }
  }
}
