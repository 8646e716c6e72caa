import { deepStrictEqual } from 'node:assert';
import { fileURLToPath } from 'node:url';
import { anyFreePort } from '../tools/processes/ports.mjs';
import { runCli, serviceArguments } from '../tools/start/services.mjs';
import { measureGroup, READS_PER_SECOND } from './figures.mjs';
import { call, startProcess } from './subjects.mjs';

export const FULL = { rounds: 15, warmUpMs: 500, ms: 3000, initialWarmUpMs: 5000 };
export const QUICK = { rounds: 9, warmUpMs: 200, ms: 1000, initialWarmUpMs: 2000 };
const CONNECTIONS = 64;
const [V8_FLAG] = serviceArguments('api');
const BARE = fileURLToPath(new URL('./http-bare.mjs', import.meta.url));
const COMMANDS = {
  service: serviceArguments('api'),
  direct: [V8_FLAG, BARE, 'direct'],
  express: [V8_FLAG, BARE, 'express'],
};
const CPU = {
  title: 'CPU of the API per request',
  of: ({ cpuMs, reads }) => (cpuMs.api * 1000) / reads.responses[200],
  format: (value) => `${value.toFixed(0)} µs`,
  better: 'less',
};
const READS = { ...READS_PER_SECOND, title: `getById/s, ${CONNECTIONS} connections` };
const DIRECT = ', against the same handlers without the HTTP layer';
const EXPRESS = ', against the same behind Express, as in any Nest application';
// Only the peer whose sole difference is the HTTP layer has targets: the service does not route with Express.
const FIGURES = [
  { ...READS, title: READS.title + DIRECT, against: 'direct', must: 0.95, aim: 0.97 },
  { ...CPU, title: CPU.title + DIRECT, against: 'direct' },
  { ...READS, title: READS.title + EXPRESS, against: 'express' },
  { ...CPU, title: CPU.title + EXPRESS, against: 'express' },
];

/**
 * Measures what the HTTP layer costs: getById of the API, against the same modules without that layer, once called
 * directly by Node.js and once behind Express, as in any Nest application.
 * @param {import('./benchmark.mjs').Bench} bench
 * @returns {Promise<import('./report.mjs').Findings>}
 */
export async function measure(bench) {
  const { rounds, warmUpMs, ms, initialWarmUpMs } = bench.size;
  const { subjects, id } = await startSubjects(bench);
  const reads = { operation: 'getById', inputs: [{ id }], connections: CONNECTIONS };
  await bench.meter.warmUp(subjects, { reads: { ...reads, ms: initialWarmUpMs } });
  const load = { reads: { ...reads, warmUpMs, ms } };
  const group = { variants: { service: load, direct: load, express: load }, figures: FIGURES };
  const { rows } = await measureGroup(bench, subjects, 'rounds', group);
  return { notes: [`${rounds} interleaved rounds of ${ms / 1000} s over ${CONNECTIONS} connections.`], rows };
}

/** Starts all subjects on one database with the demo catalogue, and checks that they return the same item. */
async function startSubjects({ launcher, databases }) {
  const env = { ...(await databases.environment('http')), DEMO_CATALOGUE: 'on' };
  for (const command of ['setup', 'demo']) await runCli(launcher, command, env);
  const subjects = {};
  for (const [name, command] of Object.entries(COMMANDS)) {
    const port = await anyFreePort();
    const pid = await startProcess(launcher, name, command, port, { ...env, PORT: String(port) });
    subjects[name] = { title: name, port, pids: { api: pid } };
  }
  const [{ id }] = await call(subjects.service.port, 'getAll', { pageSize: 1 });
  const item = await call(subjects.service.port, 'getById', { id });
  for (const { port } of Object.values(subjects)) deepStrictEqual(await call(port, 'getById', { id }), item);
  return { subjects, id };
}
