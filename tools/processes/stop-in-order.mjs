import { waitUntil } from '../wait-until.mjs';
import { statOf } from './proc.mjs';

const AFTER_KILL_MS = 3000;

/** The order of stopping. Applications, and commands with them, come first: they may still need both databases. */
export const RANK = { app: 0, redis: 1, mongodb: 2 };

/** Stops process groups, lowest rank first: with SIGTERM, and after the grace period with SIGKILL. */
export async function stopInOrder(targets) {
  for (const rank of Object.values(RANK)) {
    await Promise.all(targets.filter((target) => target.rank === rank).map(stop));
  }
}

/** Sends a signal to a process or, if the pid is negative, to a process group. Returns whether there is one. */
export function signal(pid, name) {
  try {
    return process.kill(pid, name);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Returns whether a process or, if the pid is negative, a process group is running. */
export function isRunning(pid) {
  // A zombie does not count: in a container, the process with pid 1 may leave it there for ever.
  return signal(pid, 0) && statOf(Math.abs(pid))[0] !== 'Z';
}

async function stop({ pid, graceMs }) {
  const isGone = () => !isRunning(-pid);
  signal(-pid, 'SIGTERM');
  if (await waitUntil(isGone, { withinMs: graceMs })) return;
  signal(-pid, 'SIGKILL');
  await waitUntil(isGone, { withinMs: AFTER_KILL_MS });
}
