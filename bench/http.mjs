import { deepStrictEqual } from 'node:assert';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../tools/checkout/root.mjs';
import { untilReady } from '../tools/embedded/readiness.mjs';
import { anyFreePort } from '../tools/processes/ports.mjs';
import { runCommand, serviceArguments } from '../tools/start/services.mjs';
import { Databases } from './databases.mjs';
import { Meter } from './meter.mjs';
import { figuresTable, machine } from './report.mjs';
import { interleave, median, ratios } from './rounds.mjs';
import { isMet, TIMES } from './rows.mjs';

const FULL = { rounds: 15, warmUpMs: 500, ms: 3000, heatMs: 5000 };
const QUICK = { rounds: 9, warmUpMs: 200, ms: 1000, heatMs: 2000 };
const CONNECTIONS = 64;
const [V8_FLAG] = serviceArguments('api');
const BARE = fileURLToPath(new URL('./http-bare.mjs', import.meta.url));
const COMMANDS = {
  whole: serviceArguments('api'),
  express: [V8_FLAG, BARE, 'express'],
  direct: [V8_FLAG, BARE, 'direct'],
};

/**
 * What the way in costs the hot path: getById of the API as it is, against the same modules without it, as Nest would
 * serve them behind Express, and called by nobody but Node.
 * @param {import('../tools/processes/launcher.mjs').Launcher} launcher
 * @param {{quick: boolean}} options
 * @returns {Promise<{text: string, passed: boolean}>} Markdown, and whether the "must" is met
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
    for (const name of names) await read(name, { warmUpMs: 0, ms: size.heatMs });
  });
  const results = await launcher.steps.run('rounds', () => interleave(names, size.rounds, (name) => read(name, size)));
  await databases.close();

  const rows = figures(results);
  const notes = `${size.rounds} interleaved rounds of ${size.ms / 1000} s; a ratio is taken in each round. Load average before: ${loadBefore.toFixed(1)}.`;
  return { text: [`${machine(versions)}.`, notes, figuresTable(rows)].join('\n\n'), passed: rows.every(isMet) };
}

function figures({ whole, express, direct }) {
  const row = (figure, of, without, demands) => {
    const [ours, theirs] = [whole.map(of), without.map(of)];
    const note = `${median(ours).toFixed(0)} to ${median(theirs).toFixed(0)}`;
    return { figure, ...TIMES, values: ratios(ours, theirs), note, ...demands };
  };
  const rate = ({ reads }) => reads.perSecond;
  const perSecond = `getById/s, ${CONNECTIONS} connections`;
  return [
    row(`${perSecond}, against Express without it`, rate, express, { better: 'more', must: 0.95, aim: 0.97 }),
    row('µs of CPU a request, against Express without it', cpuMicroseconds, express, { better: 'less' }),
    row(`${perSecond}, against Node's server without it`, rate, direct, { better: 'more' }),
    row("µs of CPU a request, against Node's server without it", cpuMicroseconds, direct, { better: 'less' }),
  ];
}

function cpuMicroseconds({ cpuMs, reads }) {
  return (cpuMs.api * 1000) / reads.answers[200];
}

/** Both on one database with the demo catalogue; what they are asked for is looked at before. */
async function startSubjects(launcher, databases) {
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
    HOST: '127.0.0.1',
    MONGODB_URI: databases.uriOf('http'),
    REDIS_URL: databases.redisUrl,
    DEMO_CATALOGUE: 'on',
  };
  for (const command of ['setup', 'demo']) await runCommand(launcher, command, env);
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
  const onLine = (line) => launcher.steps.say(`[${name}] ${line}`);
  const options = { env: { ...env, PORT: String(port) }, cwd: ROOT, onLine };
  const child = launcher.start(name, process.execPath, COMMANDS[name], options);
  await untilReady(child, async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).ok);
  launcher.watch(child);
  return { title: name, port, pids: { api: child.identity.pid }, countItems: async () => 0 };
}

async function call(port, operation, body) {
  const answer = await fetch(`http://127.0.0.1:${port}/api/orpc/items/${operation}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return answer.json();
}
