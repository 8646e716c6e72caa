// The load generator, a separate process so that its work is not counted for a subject: `node generate.mjs FILE` sends
// the load that FILE (JSON) describes to 127.0.0.1, and prints a report as JSON. It shares the cores with what is measured:
// autocannon needs clearly more CPU time per request if each has its own body, and it has no open loop.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { closedLoop, openLoop } from './loops.mjs';
import { createRequests, readRequests } from './requests.mjs';
import { Tally } from './tally.mjs';

/**
 * Creates or reads, or neither, and steady reads or creates alongside them.
 * @typedef {object} Load
 * @property {Loop & {keyed?: boolean, waitS?: number, isAsync?: boolean, isUnknown?: boolean, expected?: string}} [creates]
 *   whether each has an Idempotency-Key, the wait that it requests in seconds, whether it requests none, whether its brand
 *   and condition do not exist, and a status other than 200 that needs no remark
 * @property {Loop & {operation: string, inputs: object[]}} [reads] their inputs are drawn at random
 * @property {{id: string, rate: number, ms?: number}} [steadyReads] getById of one item at a steady rate, while the
 *   others last or for `ms`
 * @property {{tokens: string[], rate: number, ms: number}} [steadyCreates] creates at a steady rate for `ms`
 */

/**
 * A closed loop has `warmUpMs` and `ms`, and an open loop `count` and, unless all requests are due at once, `rate`.
 * @typedef {{connections: number, warmUpMs?: number, ms?: number, count?: number, rate?: number}} Loop
 */

/** Steady requests start this long before the other load. */
const BEFORE_MS = 500;

/** @type {Load & {port: number}} */
const { port, creates, reads, steadyReads, steadyCreates } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const next = creates ? createRequests(port, creates) : reads && readRequests(port, reads);
// Excludes the cost of starting the process.
const started = process.cpuUsage();
const report = await generate();
const { user, system } = process.cpuUsage(started);
process.stdout.write(JSON.stringify({ ...report, cpuMs: (user + system) / 1000 }));

async function generate() {
  const steady = steadyReads ?? steadyCreates;
  const thread = steady && (await startSteady(steady));
  const name = creates ? 'creates' : 'reads';
  const [sent] = await Promise.all([
    next && send({ ...creates, ...reads }).then((report) => ({ [name]: report })),
    steady?.ms && delay(steady.ms),
  ]);
  return { ...sent, [steadyCreates ? 'steadyCreates' : 'steadyReads']: await thread?.stop() };
}

async function send({ connections, warmUpMs = 0, ms = Infinity, count, rate = Infinity }) {
  const measureFrom = performance.now() + warmUpMs;
  const tally = new Tally({ measureFrom, measureUntil: measureFrom + ms });
  if (count === undefined) await closedLoop(port, { connections, next, tally });
  else await openLoop(port, { connections, rate, count, next, tally });
  return tally.report();
}

/** Sends in a separate thread, so that the work for other requests does not delay the responses. */
async function startSteady(load) {
  const workerData = { port, ...load, measureAfterMs: BEFORE_MS };
  const thread = new Worker(new URL('steady.mjs', import.meta.url), { workerData });
  await once(thread, 'online');
  await delay(BEFORE_MS);
  const stop = async () => {
    thread.postMessage('stop');
    const [report] = await once(thread, 'message');
    return report;
  };
  return { stop };
}
