// The load generator, a separate process so that its work is not counted for a subject: `node generate.mjs SPEC` sends
// the requests that SPEC (JSON) describes to 127.0.0.1 and prints a report as JSON.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { closedLoop, openLoop } from './loops.mjs';
import { createRequests, preparedRequests, readRequests } from './requests.mjs';
import { Tally } from './tally.mjs';

/**
 * @typedef {object} Spec
 * @property {number} port
 * @property {boolean} [keyed] whether creates have an Idempotency-Key
 * @property {number} [waitS] the wait that creates request, in seconds
 * @property {string[]} [expected] statuses besides 200 that need no remark
 * @property {boolean} [isUnknown] whether the brands and conditions of creates do not exist
 * @property {{connections: number, warmUpMs: number, ms: number}} [steady] creates in a closed loop
 * @property {{connections: number, rate?: number, count: number}} [burst] creates in an open loop, all at once if there
 *   is no rate
 * @property {{id: string, connections: number, warmUpMs: number, ms: number}} [readLoop] getById in a closed loop
 * @property {{file: string, connections: number, warmUpMs: number, ms: number}} [prepared] requests in a closed loop,
 *   drawn from the operation and inputs in a JSON file: there are too many for a command line
 * @property {{id: string, rate: number, ms?: number}} [reads] getById in an open loop, for `ms` or throughout the
 *   burst or the prepared requests, which are then reported as `others`
 */

/** Readers start this long before a burst. */
const READ_BEFORE_MS = 500;

/** @type {Spec} */
const spec = JSON.parse(process.argv[2]);
const { port } = spec;
const next = createRequests(port, spec);
const drawn = spec.prepared && preparedRequests(port, JSON.parse(readFileSync(spec.prepared.file, 'utf8')));
// Excludes the cost of starting the process.
const started = process.cpuUsage();

const report = await work();
const { user, system } = process.cpuUsage(started);
process.stdout.write(JSON.stringify({ ...report, cpuMs: (user + system) / 1000 }));

async function work() {
  const { readLoop, prepared } = spec;
  if (readLoop) return { reads: await steady(readLoop, readRequests(port, readLoop.id)) };
  if (prepared && spec.reads) return preparedAndReads(spec);
  if (prepared) return { reads: await steady(prepared, drawn) };
  return createsAndReads(spec);
}

async function preparedAndReads({ prepared, reads }) {
  const readers = await startReaders(reads);
  return { others: await steady(prepared, drawn), reads: await readers.stop() };
}

async function createsAndReads({ steady: steadyOptions, burst: burstOptions, reads }) {
  const readers = reads ? await startReaders(reads) : undefined;
  const creates = await (steadyOptions
    ? steady(steadyOptions, next)
    : burstOptions
      ? burst(burstOptions)
      : delay(reads.ms));
  return { creates, reads: await readers?.stop() };
}

async function steady({ connections, warmUpMs, ms }, requests) {
  const measureFrom = performance.now() + warmUpMs;
  const tally = new Tally({ measureFrom, measureUntil: measureFrom + ms });
  await closedLoop(port, { connections, next: requests, tally });
  return tally.report();
}

async function burst({ connections, rate = Infinity, count }) {
  const tally = new Tally({ measureFrom: performance.now() });
  await openLoop(port, { connections, rate, count, next, tally });
  return tally.report();
}

async function startReaders({ id, rate }) {
  const thread = new Worker(new URL('readers.mjs', import.meta.url), { workerData: { port, id, rate } });
  await once(thread, 'online');
  await delay(READ_BEFORE_MS);
  thread.postMessage('count');
  const stop = async () => {
    thread.postMessage('stop');
    const [reads] = await once(thread, 'message');
    return reads;
  };
  return { stop };
}
