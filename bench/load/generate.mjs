// The load generator, a process of its own so that its work is not counted for a subject: `node generate.mjs FILE NAME`
// sends the stream NAME of the load that FILE (JSON) describes to 127.0.0.1, and prints its report as JSON. SIGTERM ends
// a stream. It takes CPU time from what is measured, so its connections are its own: undici and autocannon need almost
// twice as much.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { prepare } from './stream.mjs';

/**
 * Creates or reads, or neither, and steady reads or creates alongside them. Those are sent at their `rate` while the
 * others last, or for `ms`.
 * @typedef {Partial<Record<'creates' | 'reads' | 'steadyReads' | 'steadyCreates', import('./stream.mjs').Stream>>} Load
 */

const [file, name] = process.argv.slice(2);
/** @type {Load & {port: number | number[]}} */
const { port, [name]: stream } = JSON.parse(readFileSync(file, 'utf8'));
const send = prepare(port, stream);
// Excludes the cost of starting the process.
const started = process.cpuUsage();
// An empty line says that it has started.
process.stdout.write('\n');
const report = await send(once(process, 'SIGTERM'));
const { user, system } = process.cpuUsage(started);
process.stdout.write(JSON.stringify({ report, cpuMs: (user + system) / 1000 }));
