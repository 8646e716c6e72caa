import { setTimeout as delay } from 'node:timers/promises';
import { isGroupRunning } from './identity.mjs';

const POLL_INTERVAL_MS = 100;
const AFTER_KILL_MS = 3000;

/** @typedef {import('./identity.mjs').Identity & {name: string, rank: number, graceMs: number}} Target */

/** The order of stopping. Applications, and commands with them, come first: they may still need both databases. */
export const RANK = { app: 0, redis: 1, mongodb: 2 };

/**
 * Stops process groups, lowest rank first: with SIGTERM, and after the grace period with SIGKILL.
 * @param {Target[]} targets
 */
export async function stopInOrder(targets) {
  const ranks = [...new Set(targets.map((target) => target.rank))].sort((a, b) => a - b);
  for (const rank of ranks) {
    await Promise.all(targets.filter((target) => target.rank === rank).map(stop));
  }
}

/** Sends a signal to a whole process group, if it is still the group that was started. */
export function signalGroup(target, signal) {
  if (!isGroupRunning(target)) return;
  try {
    process.kill(-target.pid, signal);
  } catch {
    // It exited between the check and the signal.
  }
}

async function stop(target) {
  signalGroup(target, 'SIGTERM');
  if (await isGoneWithin(target, target.graceMs)) return;
  signalGroup(target, 'SIGKILL');
  await isGoneWithin(target, AFTER_KILL_MS);
}

async function isGoneWithin(target, ms) {
  const deadline = performance.now() + ms;
  while (isGroupRunning(target)) {
    if (performance.now() > deadline) return false;
    await delay(POLL_INTERVAL_MS);
  }
  return true;
}
