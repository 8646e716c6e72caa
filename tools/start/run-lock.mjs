import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LOCAL } from '../checkout/root.mjs';
import { tryLock } from '../processes/lock.mjs';
import { isRunning } from '../processes/stop-in-order.mjs';

const FILE = join(LOCAL, 'npm-start.json');
const POLL_INTERVAL_MS = 300;

/**
 * Makes this the only run in this checkout, unless there is another: two would write the same data. Waits until
 * everything that a killed run has started is stopped.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @returns {Promise<{holder: {pid: number, url?: string, mongodbUri?: string}} | {record: (details: object) => void}>}
 * the other run; or `record`, which tells other tools about this one once everything is up
 */
export async function tryRunLock(launcher) {
  while (!(await tryLock(launcher, FILE))) {
    const holder = read();
    if (holder !== undefined && isRunning(holder.pid)) return { holder };
    await delay(POLL_INTERVAL_MS);
  }
  launcher.removeAtEnd(FILE);
  write({});
  return { record: write };
}

function read() {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'));
  } catch {
    return undefined; // The other run has not written it yet.
  }
}

function write(details) {
  writeFileSync(FILE, JSON.stringify({ pid: process.pid, ...details }));
}
