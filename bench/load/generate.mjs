// The load generator, a process of its own so that its work shows in nobody's figures: `node generate.mjs SPEC` sends
// what SPEC (JSON) asks for to 127.0.0.1 and prints a report as JSON.
import { setTimeout as delay } from 'node:timers/promises';
import { closedLoop, openLoop } from './loops.mjs';
import { createRequests, readRequests } from './requests.mjs';
import { Tally } from './tally.mjs';

/**
 * @typedef {object} Spec
 * @property {number} port
 * @property {boolean} [keyed] whether creates have an Idempotency-Key
 * @property {{connections: number, warmUpMs: number, ms: number}} [steady] creates in a closed loop
 * @property {{connections: number, rate: number, count: number}} [burst] creates in an open loop
 * @property {{id: string, rate: number, ms?: number}} [reads] getById in an open loop, for so long or through the burst
 */

const READ_CONNECTIONS = 16;

/** @type {Spec} */
const spec = JSON.parse(process.argv[2]);
const { port } = spec;
const next = createRequests(port, spec);
// What starting a process takes is not what a request takes.
const started = process.cpuUsage();

const creates = spec.steady ? steady(spec.steady) : spec.burst ? burst(spec.burst) : undefined;
const reads = spec.reads ? read(spec.reads) : undefined;
const report = { creates: await creates, reads: await reads };
const { user, system } = process.cpuUsage(started);
process.stdout.write(JSON.stringify({ ...report, cpuMs: (user + system) / 1000 }));

async function steady({ connections, warmUpMs, ms }) {
  const measureFrom = performance.now() + warmUpMs;
  const tally = new Tally({ measureFrom, measureUntil: measureFrom + ms });
  await closedLoop(port, { connections, next, tally });
  return tally.report();
}

async function burst({ connections, rate, count }) {
  const tally = new Tally({ measureFrom: performance.now() });
  await openLoop(port, { connections, rate, count, next, tally });
  return tally.report();
}

async function read({ id, rate, ms }) {
  const tally = new Tally({ measureFrom: performance.now() });
  const until = ms === undefined ? creates : delay(ms);
  await openLoop(port, { connections: READ_CONNECTIONS, rate, until, next: readRequests(port, id), tally });
  return tally.report();
}
