// The load generator, a process of its own so that its work is not counted for a subject: `node generate.mjs` sends the
// stream that stdin describes in JSON to 127.0.0.1, and prints its report as JSON. SIGTERM ends a stream. It takes CPU
// time from what is measured, so its connections are its own: undici and autocannon need more.
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from './connection.mjs';
import { requestsOf } from './requests.mjs';
import { Tally } from './tally.mjs';

/**
 * Creates or reads, or neither, and steady reads or creates alongside them. Those are sent at their `rate` while the
 * others last, or for `ms`.
 * @typedef {Partial<Record<'creates' | 'reads' | 'steadyReads' | 'steadyCreates', Stream>>} Load
 */

/**
 * Requests of one kind: a closed loop of `connections` for `warmUpMs` and `ms`, or an open loop of `count` requests, or
 * without a count, which are due at a `rate` per second or, without a rate, all at once. Each connection sends its next
 * request after the response to its last one.
 *
 * In an open loop, requests are due whether or not the server keeps up. They are timed from when they were due, so that
 * waiting clients cannot hide a stalled server. The first request of a connection is timed from when it is sent: no
 * earlier response can delay it, only the generator itself, which sends the requests of a burst one after another.
 * @typedef {object} Stream
 * @property {number} connections
 * @property {number} [warmUpMs] before anything is measured
 * @property {number} [ms]
 * @property {number} [count]
 * @property {number} [rate]
 * @property {string[]} [tokens] of the callers, in turn
 * @property {string} [operation] of reads; creates have none
 * @property {object[]} [inputs] of reads, drawn at random; by default, getById reads one item
 * @property {number} [waitS] the wait that each create requests
 * @property {boolean} [isAsync] whether creates request no wait
 * @property {boolean} [isUnknown] whether their brand and condition do not exist
 * @property {string} [expected] a status other than 200 that needs no remark
 */

/** @type {Stream & {port: number | number[]}} of several ports, connections take one each in turn */
const stream = await json(process.stdin);
const { port, connections: size, warmUpMs = 0, ms, count = Infinity, rate = Infinity } = stream;
const isOpenLoop = count !== Infinity || rate !== Infinity;
const next = requestsOf(stream);
const ports = [port].flat();
const connections = Array.from({ length: size }, (_, index) => new Connection(ports[index % ports.length]));
let isStopped = false;
process.once('SIGTERM', () => (isStopped = true));

// Excludes the cost of starting the process.
const started = process.cpuUsage();
// An empty line says that it has started.
process.stdout.write('\n');
// One by one: of a thousand opened at once, any may wait a second for a lost SYN.
for (const connection of connections) await connection.open();
const tally = new Tally(warmUpMs, ms);
let sent = 0;
await Promise.all(connections.map(repeat));
for (const connection of connections) connection.close();
const { user, system } = process.cpuUsage(started);
process.stdout.write(JSON.stringify({ report: tally.report(), cpuMs: (user + system) / 1000 }));

async function repeat(connection) {
  let isFirst = true;
  while (!isStopped && sent < count && (isOpenLoop || performance.now() < tally.measureUntil)) {
    const due = tally.startedAt + (sent * 1000) / rate;
    sent += 1;
    const earlyMs = due - performance.now();
    if (earlyMs > 0) await delay(earlyMs);
    // The server is not to blame for a late timer.
    const since = isOpenLoop && earlyMs <= 0 && !isFirst ? due : performance.now();
    isFirst = false;
    await tally.count(since, connection.send(next()));
  }
}
