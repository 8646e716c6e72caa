import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lock } from 'proper-lockfile';
import { LOCAL } from '../checkout/root.mjs';
import { statOf } from './proc.mjs';
import { isRunning } from './stop-in-order.mjs';

/** How long a lock stays when neither its process nor the reaper could remove it. */
const STALE_MS = 10_000;
const RUN = join(LOCAL, 'npm-start.json');
const POLL_INTERVAL_MS = 300;

/** Locks a file, which need not exist, until the end of this run. Returns false if another process has locked it. */
export async function tryLock(launcher, path) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    // A lock is lost when its folder is deleted, which is no reason to exit.
    await lock(path, { realpath: false, stale: STALE_MS, onCompromised: () => {} });
  } catch (error) {
    if (error.code === 'ELOCKED') return false;
    throw error;
  }
  launcher.removeAtEnd(`${path}.lock`);
  return true;
}

/**
 * Makes this the only run in this checkout, unless `npm start` runs: two would write the same data. Waits for a run
 * that is still starting, for another import, and until everything that a killed run has started is stopped.
 * @returns {Promise<{holder: {pid: number, url: string, mongodbUri?: string}} | {record: (details: object) => void}>}
 * the other run; or `record`, which tells others about this one once everything is up
 */
export async function tryRunLock(launcher) {
  const self = { pid: process.pid, startedAt: startOf(process.pid) };
  const record = (details) => writeFileSync(RUN, JSON.stringify({ ...self, ...details }));
  // The lock of a suspended run becomes stale.
  for (let attempt = 1; isSameProcess(readHolder()) || !(await tryLock(launcher, RUN)); attempt += 1) {
    const holder = readHolder();
    if (holder.url && isRunning(holder.pid)) return { holder };
    if (attempt === 1) launcher.steps.print('Waiting for another run in this checkout');
    await delay(POLL_INTERVAL_MS);
  }
  launcher.removeAtEnd(RUN);
  record({});
  return { record };
}

function readHolder() {
  try {
    return JSON.parse(readFileSync(RUN, 'utf8'));
  } catch {
    return {}; // The other run has not written it yet.
  }
}

/** Returns whether the process still runs, and another one has not got its pid. Returns false where that is unknown. */
function isSameProcess({ pid, startedAt }) {
  return startedAt !== undefined && isRunning(pid) && startOf(pid) === startedAt;
}

/** Returns when a process started, in clock ticks since the machine did. Only Linux has it in a file. */
function startOf(pid) {
  return statOf(pid)[19];
}
