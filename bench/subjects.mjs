import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';
import { LOCAL, ROOT } from '../tools/checkout/root.mjs';
import { waitUntilReady } from '../tools/processes/child.mjs';
import { runCli, serviceArguments } from '../tools/start/services.mjs';
import { insertReferences } from './catalogue.mjs';
import { exampleBody } from './load/requests.mjs';

const PEERS = fileURLToPath(new URL('./peers/', import.meta.url));
const LIBS = join(ROOT, 'dist', 'libs');
const FIELDS = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')).components.schemas.Item.required;

/**
 * The service or a peer, running on a database and queue.
 * @typedef {object} Subject
 * @property {string} title
 * @property {number | number[]} port of its API, or of several
 * @property {Record<string, number>} pids of its processes
 * @property {object} env the environment of its processes
 * @property {import('mongoose').mongo.Db} db
 * @property {string[]} [tokens] of its callers
 * @property {string} [itemId] of an item it has stored
 */

/** Subjects in the order of the tables: the title and, for a peer, its processes. */
const SUBJECTS = {
  service: { title: 'this service' },
  other: { title: 'the other tree' },
  direct: { title: '(a) direct', files: { api: 'direct' } },
  withoutSearch: { title: '(a) without search', files: { api: 'direct' }, isWithoutSearch: true },
  tutorial: { title: '(b) tutorial pair', files: { worker: 'tutorial-worker', api: 'tutorial-api' } },
  minimal: { title: '(c) node:http + driver', files: { api: 'minimal' } },
};

export function titleOf(name) {
  return SUBJECTS[name].title;
}

/**
 * Starts the service and peers on databases of their own, and creates and checks one item in each.
 * @param {{name: string, env?: object, tokens?: string[]}[]} [variants] of the service, with settings of their own
 * @returns {Promise<Record<string, Subject>>}
 */
export async function startSubjects(bench, names, variants = []) {
  const { launcher, databases } = bench;
  const known = Object.keys(SUBJECTS).filter((name) => names.includes(name));
  const subjects = {};
  for (const { name, env: more, tokens } of [...known.map((name) => ({ name })), ...variants]) {
    const env = { ...(await databases.environment(name)), ...more };
    const db = databases.db(env);
    await insertReferences(db);
    // A peer without search neither derives nor indexes search terms, and has only the unique index.
    if (SUBJECTS[name]?.isWithoutSearch) await db.collection('items').createIndex({ publicId: 1 }, { unique: true });
    else await runCli(launcher, 'setup', env, rootOf(bench, name));
    const subject = await startSubject(bench, name, env, { tokens });
    subjects[name] = { ...subject, itemId: await createFirst(name, subject) };
  }
  return subjects;
}

/** Starts the processes of a subject, which must run until the end of the benchmark. */
export async function startSubject(bench, name, env, { tokens, processes = ['worker', 'api'] } = {}) {
  const { launcher, databases } = bench;
  const { title = name, files, isWithoutSearch } = SUBJECTS[name] ?? {};
  if (files) bench.peers ??= await compilePeers(launcher);
  const root = rootOf(bench, name);
  const ports = { worker: env.WORKER_PORT, api: env.PORT };
  const pids = {};
  for (const process of processes.filter((each) => !files || each in files)) {
    const args = files ? [join(bench.peers, `${files[process]}.js`)] : serviceArguments(process, root);
    const ownEnv = { ...env, PEER_SEARCH: isWithoutSearch ? 'off' : 'on' };
    const child = await startProcess(launcher, `${name} ${process}`, args, ports[process], ownEnv, root);
    launcher.watch(child);
    pids[process] = child.pid;
  }
  return { title, port: Number(env.PORT), pids, env, db: databases.db(env), tokens };
}

/** Starts a process, and waits until it serves HTTP and is ready if it says so. */
export async function startProcess(launcher, name, args, port, env, root = ROOT) {
  // Prints warnings and errors, whose pino level is 40 or more, and what is not a line of the log.
  const onLine = (line) => /"level":[1-3]0/.test(line) || launcher.steps.print(`[${name}] ${line}`);
  const child = launcher.start(name, process.execPath, args, { env, cwd: root, onLine });
  await waitUntilReady(child, async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).status !== 503);
  return child;
}

function rootOf({ options }, name) {
  return name === 'other' ? options.against : ROOT;
}

/** Compiles the peers into a folder where they can import packages and, as `@app/…`, the built libs. */
async function compilePeers(launcher) {
  const folder = launcher.temporaryFolder(LOCAL);
  for (const file of readdirSync(PEERS)) await compile(join(PEERS, file), folder);
  const scope = join(folder, 'node_modules', '@app');
  mkdirSync(scope, { recursive: true });
  for (const lib of readdirSync(LIBS)) symlinkSync(join(LIBS, lib, 'src'), join(scope, lib));
  return folder;
}

export async function compile(file, folder) {
  const { code } = await transformFile(file, { cwd: ROOT, sourceMaps: 'inline' });
  writeFileSync(join(folder, `${basename(file, '.ts')}.js`), code);
}

/** Creates the first item and checks it: a benchmark of a broken subject would be worthless. */
async function createFirst(name, { port, tokens }) {
  const item = await call(port, 'create', exampleBody(), tokens);
  deepStrictEqual(Object.keys(item).sort(), FIELDS.toSorted(), `${name} returns other fields`);
  match(item.slug, /^road-bike-the-first-one-\d+$/);
  deepStrictEqual(await call(port, 'getById', { id: item.id }, tokens), item);
  return item.id;
}

/** Like {@link send}, but returns the parsed body. */
export async function call(port, operation, body, tokens) {
  const response = await send(port, operation, body, tokens);
  return response.json();
}

/** Sends an API one request. Throws unless the status is 200. */
export async function send(port, operation, body, [token] = []) {
  const response = await fetch(`http://127.0.0.1:${port}/api/orpc/items/${operation}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
  strictEqual(response.status, 200, `${operation} on port ${port} responded with ${response.status}`);
  return response;
}
