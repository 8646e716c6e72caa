import { deepStrictEqual } from 'node:assert';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../tools/checkout/root.mjs';
import { waitUntilReady } from '../tools/embedded/readiness.mjs';
import { anyFreePort } from '../tools/processes/ports.mjs';
import { runCli, serviceArguments } from '../tools/start/services.mjs';
import { Databases } from './databases.mjs';
import { Meter } from './meter.mjs';
import { resultOf } from './report.mjs';
import { interleave } from './rounds.mjs';
import { compared, rate } from './rows.mjs';
import { call, environment } from './subjects.mjs';

const FULL = { rounds: 15, warmUpMs: 500, ms: 3000, initialWarmUpMs: 5000 };
const QUICK = { rounds: 9, warmUpMs: 200, ms: 1000, initialWarmUpMs: 2000 };
const CONNECTIONS = 64;
const [V8_FLAG] = serviceArguments('api');
const BARE = fileURLToPath(new URL('./http-bare.mjs', import.meta.url));
const COMMANDS = {
  whole: serviceArguments('api'),
  express: [V8_FLAG, BARE, 'express'],
  direct: [V8_FLAG, BARE, 'direct'],
};

/**
 * Measures what the HTTP layer costs: getById of the API, against the same modules without that layer, once behind
 * Express, as in any Nest application, and once called directly by Node.js.
 * @param {import('../tools/processes/launcher.mjs').Launcher} launcher
 * @param {{quick: boolean}} options
 * @returns {Promise<import('./report.mjs').Result>}
 */
export async function runBenchmark(launcher, { quick }) {
  const [loadBefore] = loadavg();
  const size = quick ? QUICK : FULL;
  const databases = await Databases.start(launcher);
  const versions = await databases.versions();
  const subjects = await startSubjects(launcher, databases);
  const meter = new Meter(launcher, databases, { keyed: false });
  const read = (name, { warmUpMs, ms }) => {
    const subject = subjects[name];
    return meter.measure(subject, { readLoop: { id: subject.itemId, connections: CONNECTIONS, warmUpMs, ms } });
  };
  const names = Object.keys(subjects);
  await launcher.steps.run('warm-up', async () => {
    for (const name of names) await read(name, { warmUpMs: 0, ms: size.initialWarmUpMs });
  });
  const results = await launcher.steps.run('rounds', () => interleave(names, size.rounds, (name) => read(name, size)));
  await databases.close();

  const rows = figures(results);
  const notes = [
    `${size.rounds} interleaved rounds of ${size.ms / 1000} s; a ratio is taken in each round.`,
    `Load average before: ${loadBefore.toFixed(1)}.`,
  ];
  return resultOf({ versions, notes, rows, meter });
}

function figures({ whole, express, direct }) {
  const rows = (peer, title, targets) => [
    compared(whole.map(perSecond), peer.map(perSecond), rate, {
      figure: `getById, ${CONNECTIONS} connections, against ${title}`,
      better: 'more',
      ...targets,
    }),
    compared(whole.map(cpuMicroseconds), peer.map(cpuMicroseconds), microseconds, {
      figure: `CPU of the API per request, against ${title}`,
      better: 'less',
    }),
  ];
  // Only the peer whose sole difference is the HTTP layer has targets: the service does not route with Express.
  return [
    ...rows(direct, 'the same handlers without the HTTP layer', { must: 0.95, aim: 0.97 }),
    ...rows(express, 'the same behind Express, as in any Nest application', {}),
  ];
}

function perSecond({ reads }) {
  return reads.perSecond;
}

function microseconds(value) {
  return `${value.toFixed(0)} µs`;
}

function cpuMicroseconds({ cpuMs, reads }) {
  return (cpuMs.api * 1000) / reads.responses[200];
}

/** Starts all subjects on one database with the demo catalogue, and checks that they return the same item. */
async function startSubjects(launcher, databases) {
  const env = { ...(await environment(databases, 'http')), DEMO_CATALOGUE: 'on' };
  for (const command of ['setup', 'demo']) await runCli(launcher, command, env);
  const subjects = {};
  for (const name of Object.keys(COMMANDS)) subjects[name] = await startSubject(launcher, name, env);
  const [{ id: itemId }] = await call(subjects.whole.port, 'getAll', { pageSize: 1 });
  for (const subject of Object.values(subjects)) subject.itemId = itemId;
  const [one, ...others] = await Promise.all(
    Object.values(subjects).map(({ port }) => call(port, 'getById', { id: itemId })),
  );
  for (const other of others) deepStrictEqual(other, one);
  return subjects;
}

async function startSubject(launcher, name, env) {
  const port = await anyFreePort();
  const onLine = (line) => launcher.steps.print(`[${name}] ${line}`);
  const options = { env: { ...env, PORT: String(port) }, cwd: ROOT, onLine };
  const child = launcher.start(name, process.execPath, COMMANDS[name], options);
  await waitUntilReady(child, async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).ok);
  launcher.watch(child);
  return { title: name, port, pids: { api: child.pid }, countItems: async () => 0 };
}
