import { setTimeout as delay } from 'node:timers/promises';

const EVERY_MS = 50;

/** Tries until it works; the last error when it has not worked in time. */
export async function eventually<T>(attempt: () => Promise<T> | T, withinMs = 15_000): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
      await delay(EVERY_MS);
    }
  }
}
