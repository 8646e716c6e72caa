// The load generator, a separate process so that its work is not counted for a subject: `node generate.mjs FILE` sends
// the load that FILE (JSON) describes to 127.0.0.1, and prints a report of each stream as JSON. It takes CPU
// time from what is measured, so its connections are its own: undici and autocannon need almost twice as much.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { prepare } from './stream.mjs';

/**
 * Creates or reads, or neither, and steady reads or creates alongside them. Those are sent at their `rate` while the
 * others last, or for `ms`.
 * @typedef {Partial<Record<'creates' | 'reads' | 'steadyReads' | 'steadyCreates', import('./stream.mjs').Stream>>} Load
 */

/** A steady stream starts this long before the other load. */
const BEFORE_MS = 500;
const STEADY = { connections: 16, warmUpMs: BEFORE_MS };

/** @type {Load & {port: number | number[]}} */
const { port, ...load } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const [steady] = Object.keys(load).filter((name) => name.startsWith('steady'));
const [other] = Object.keys(load).filter((name) => name !== steady);
const send = other && prepare(port, load[other]);
// Excludes the cost of starting the process.
const started = process.cpuUsage();
const reports = await generate();
const { user, system } = process.cpuUsage(started);
process.stdout.write(JSON.stringify({ ...reports, cpuMs: (user + system) / 1000 }));

async function generate() {
  const stop = steady && (await startSteady(load[steady]));
  const [report] = await Promise.all([send?.(), steady && delay(load[steady].ms)]);
  return { ...(other && { [other]: report }), ...(steady && { [steady]: await stop() }) };
}

/** Sends in a separate thread, so that the work for other requests does not delay the responses. */
async function startSteady(stream) {
  const workerData = { port, stream: { ...STEADY, ...stream } };
  const thread = new Worker(new URL('steady.mjs', import.meta.url), { workerData });
  await once(thread, 'online');
  await delay(BEFORE_MS);
  return async () => {
    thread.postMessage('stop');
    const [report] = await once(thread, 'message');
    return report;
  };
}
