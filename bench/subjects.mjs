import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LOCAL, ROOT } from '../tools/checkout/root.mjs';
import { waitUntilReady } from '../tools/embedded/readiness.mjs';
import { runCli, serviceArguments } from '../tools/start/services.mjs';
import { compile } from './compile.mjs';
import { exampleBody, REFERENCES } from './load/requests.mjs';

const PEERS = fileURLToPath(new URL('./peers/', import.meta.url));
/** The libs that the peers import. */
const LIBS = ['contracts', 'database', 'items', 'runtime'];
const FIELDS = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')).components.schemas.Item.required;

/**
 * The service or a peer, running on a database and queue.
 * @typedef {object} Subject
 * @property {string} title
 * @property {number} port of its API
 * @property {Record<string, number>} pids of its processes
 * @property {string} [itemId] of an item it has stored
 * @property {() => Promise<number>} [countItems]
 * @property {() => Promise<boolean>} [hasUnindexed] whether search does not find all items yet
 */

/** All subjects in the order of the tables: the title and, for a peer, its processes. */
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
 * Starts subjects on databases of their own, and creates and checks one item in each.
 * @param {import('./benchmark.mjs').Bench} bench
 * @param {string[]} names
 * @param {{name: string, env: object, token?: string}[]} [variants] of the service, with settings of their own, and the
 *   token of its first create
 */
export async function startSubjects({ launcher, databases, options }, names, variants = []) {
  const folder = await compilePeers(launcher);
  const subjects = {};
  const known = Object.keys(SUBJECTS).filter((name) => names.includes(name));
  for (const { name, env: more, token } of [...known.map((name) => ({ name })), ...variants]) {
    const env = { ...(await databases.environment(name)), ...more };
    const root = name === 'other' ? options.against : ROOT;
    const db = databases.db(name);
    await insertReferences(db);
    // A peer without search neither derives nor indexes search terms, and has only the unique index.
    if (SUBJECTS[name]?.isWithoutSearch) await db.collection('items').createIndex({ publicId: 1 }, { unique: true });
    else await runCli(launcher, 'setup', env, root);
    const subject = await startSubject(launcher, name, env, { root, folder });
    const itemId = await createFirst(name, subject.port, token);
    const countItems = () => db.collection('items').countDocuments();
    subjects[name] = { ...subject, itemId, countItems, hasUnindexed: () => hasUnindexed(db) };
  }
  return subjects;
}

/** Starts the processes of a subject: of the service in the checkout `root`, or of a peer compiled into `folder`. */
export async function startSubject(launcher, name, env, { root = ROOT, folder, processes = ['worker', 'api'] } = {}) {
  const { title, files, isWithoutSearch } = SUBJECTS[name] ?? { title: name };
  const ports = { worker: Number(env.WORKER_PORT), api: Number(env.PORT) };
  const pids = {};
  for (const process of processes.filter((each) => !files || each in files)) {
    const args = files ? [join(folder, `${files[process]}.js`)] : serviceArguments(process, root);
    const ownEnv = { ...env, PEER_SEARCH: isWithoutSearch ? 'off' : 'on' };
    pids[process] = await startProcess(launcher, `${name} ${process}`, args, ports[process], ownEnv, root);
  }
  return { title, port: ports.api, pids };
}

/** Starts a process that must run until the end of the benchmark, and returns its pid. For the parameters see {@link startChild}. */
export async function startProcess(launcher, ...args) {
  const child = await startChild(launcher, ...args);
  launcher.watch(child);
  return child.pid;
}

/** Starts a process, waits until it serves HTTP and is ready if it says so, and returns it. */
export async function startChild(launcher, name, args, port, env, root = ROOT) {
  // Prints warnings and errors, whose pino level is 40 or more, and what is not a line of the log.
  const onLine = (line) => /"level":[1-3]0/.test(line) || launcher.steps.print(`[${name}] ${line}`);
  const child = launcher.start(name, process.execPath, args, { env, cwd: root, onLine });
  await waitUntilReady(child, async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).status !== 503);
  return child;
}

/** Compiles the peers into a folder where they can import packages and, as `@app/…`, the built libs. */
export async function compilePeers(launcher) {
  const folder = launcher.temporaryFolder(LOCAL);
  for (const file of readdirSync(PEERS)) await compile(join(PEERS, file), folder);
  const scope = join(folder, 'node_modules', '@app');
  mkdirSync(scope, { recursive: true });
  for (const lib of LIBS) symlinkSync(join(ROOT, 'dist', 'libs', lib, 'src'), join(scope, lib));
  return folder;
}

/**
 * Returns whether an item has no search terms yet. Looks at the newest item first: a scan for any such item would pass
 * over the removed index keys of all items that were indexed just before.
 */
export async function hasUnindexed(db) {
  const items = db.collection('items');
  const newest = await items.findOne({}, { projection: { searchVersion: 1 }, sort: { publicId: -1 } });
  if (newest !== null && !newest.searchVersion) return true;
  return (await items.findOne({ searchVersion: { $in: [null, 0] } }, { projection: { _id: 1 } })) !== null;
}

async function insertReferences(db) {
  for (const [name, count] of Object.entries(REFERENCES)) {
    const titles = Array.from({ length: count }, (_, index) => ({ _id: index + 1, title: `${name} ${index + 1}` }));
    await db.collection(name).insertMany(titles);
  }
}

/** Creates the first item and checks it: a benchmark of a broken subject would be worthless. */
async function createFirst(name, port, token) {
  const item = await call(port, 'create', exampleBody(), token);
  deepStrictEqual(Object.keys(item).sort(), FIELDS.toSorted(), `${name} returns other fields`);
  match(item.slug, /^road-bike-the-first-one-\d+$/);
  // The tutorial peer has no reads, because no figure needs them.
  if (name !== 'tutorial') deepStrictEqual(await call(port, 'getById', { id: item.id }), item);
  return item.id;
}

/** Sends an API one request and returns the parsed body of the response. */
export async function call(port, operation, body, token) {
  const response = await send(port, operation, body, token);
  return response.json();
}

/** Sends an API one request. Throws unless the status is 200. */
export async function send(port, operation, body, token) {
  const response = await fetch(`http://127.0.0.1:${port}/api/orpc/items/${operation}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
  strictEqual(response.status, 200, `${operation} on port ${port} responded with ${response.status}`);
  return response;
}
