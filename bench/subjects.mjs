import { deepStrictEqual, strictEqual } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../tools/checkout/root.mjs';
import { anyFreePort } from '../tools/processes/ports.mjs';
import { runCli, startService } from '../tools/start/services.mjs';
import { exampleBody, REFERENCES } from './load/requests.mjs';
import { compilePeers, startPeer } from './peers.mjs';

const { required } = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')).components.schemas.Item;
const FIELDS = required.sort();
const CREATED = /^road-bike-the-first-one-\d+$/;

/**
 * The service or a peer, running on its own database and queue.
 * @typedef {object} Subject
 * @property {string} name
 * @property {string} title
 * @property {number} port of its API
 * @property {Record<string, number>} pids of its processes
 * @property {string} itemId of an item it has stored
 * @property {() => Promise<number>} countItems
 * @property {() => Promise<boolean>} hasUnindexed whether search does not find all items yet
 */

/** All subjects in the order of the tables: the title and, for a peer, its processes. */
const SUBJECTS = {
  service: { title: 'this service' },
  other: { title: 'the other tree' },
  direct: { title: '(a) direct', files: { api: 'direct' } },
  withoutSearch: { title: '(a) without search', files: { api: 'direct' }, hasSearch: false },
  tutorial: { title: '(b) tutorial pair', files: { worker: 'tutorial-worker', api: 'tutorial-api' } },
  minimal: { title: '(c) node:http + driver', files: { api: 'minimal' } },
};

/**
 * Starts subjects, and creates and checks one item in each.
 * @template {keyof typeof SUBJECTS} Name
 * @param {import('../tools/processes/launcher.mjs').Launcher} launcher
 * @param {import('./databases.mjs').Databases} databases
 * @param {Name[]} names
 * @param {{against?: string}} [options] the built checkout that is `other`
 * @returns {Promise<Record<Name, Subject>>}
 */
export async function startSubjects(launcher, databases, names, { against } = {}) {
  const folder = await compilePeers(launcher);
  const subjects = {};
  for (const name of Object.keys(SUBJECTS).filter((known) => names.includes(known))) {
    const { files } = SUBJECTS[name];
    const how = files ? peer(launcher, folder, SUBJECTS[name]) : tree(launcher, name === 'other' ? against : ROOT);
    subjects[name] = await startSubject(databases, name, how);
  }
  return subjects;
}

/** The service as built in a checkout, set up by the command of that checkout. */
function tree(launcher, root) {
  return {
    prepare: (env) => runCli(launcher, 'setup', env, root),
    start: (env) => startBoth(launcher, env, root),
  };
}

/** A peer without search neither derives nor indexes search terms, and has only the unique index. */
function peer(launcher, folder, { files, hasSearch = true }) {
  return {
    prepare: (env, db) => (hasSearch ? runCli(launcher, 'setup', env) : createUniqueIndex(db)),
    start: async (env) => {
      const pids = {};
      const peerEnv = { ...env, PEER_SEARCH: hasSearch ? 'on' : 'off' };
      for (const [name, file] of Object.entries(files)) pids[name] = await startPeer(launcher, folder, file, peerEnv);
      return pids;
    },
  };
}

async function startSubject(databases, name, { prepare, start }) {
  const env = await environment(databases, name);
  const port = Number(env.PORT);
  const db = databases.db(name);
  await insertReferences(db);
  await prepare(env, db);
  const pids = await start(env);
  const itemId = await createFirst(port, name);
  const items = db.collection('items');
  const countItems = () => items.countDocuments();
  return { name, title: SUBJECTS[name].title, port, pids, itemId, countItems, hasUnindexed: () => hasUnindexed(items) };
}

/** Looks for the newest first: a scan from the oldest would pass over the removed keys of items just indexed. */
export async function hasUnindexed(items) {
  const newest = { projection: { _id: 1 }, sort: { createdAt: -1 } };
  return (await items.findOne({ searchVersion: null }, newest)) !== null;
}

/** Returns the environment of a subject's processes: free ports, and its own database and queue. */
export async function environment(databases, name) {
  return {
    ...process.env,
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
    HOST: '127.0.0.1',
    PORT: String(await anyFreePort()),
    WORKER_PORT: String(await anyFreePort()),
    MONGODB_URI: databases.uriOf(name),
    REDIS_URL: databases.redisUrl,
    QUEUE_PREFIX: `bench-${name}`,
  };
}

/** Starts the service's worker and API, of this checkout or another, and returns their pids. */
export async function startBoth(launcher, env, root = ROOT) {
  await startService(launcher, 'worker', Number(env.WORKER_PORT), env, root);
  await startService(launcher, 'api', Number(env.PORT), env, root);
  const pidOf = (name) => launcher.targets.findLast((target) => target.name === name).pid;
  return { api: pidOf('api'), worker: pidOf('worker') };
}

async function createUniqueIndex(db) {
  await db.collection('items').createIndex({ publicId: 1 }, { unique: true });
}

async function insertReferences(db) {
  for (const [name, count] of Object.entries(REFERENCES)) {
    const titles = Array.from({ length: count }, (_, index) => ({ _id: index + 1, title: `${name} ${index + 1}` }));
    await db.collection(name).insertMany(titles);
  }
}

/** Creates the first item and checks it: a benchmark of a broken subject would be worthless. */
async function createFirst(port, name) {
  const item = await call(port, 'create', exampleBody());
  deepStrictEqual(Object.keys(item).sort(), FIELDS, `${name} returns other fields`);
  strictEqual(CREATED.test(item.slug), true, `${name} has the slug ${item.slug}`);
  // The tutorial peer has no reads, because no figure needs them.
  if (name !== 'tutorial') deepStrictEqual(await call(port, 'getById', { id: item.id }), item);
  return item.id;
}

/** Sends an API one request and returns the parsed body of the response. */
export async function call(port, operation, body) {
  const response = await send(port, operation, body);
  return response.json();
}

/** Sends an API one request. Throws unless the status is 200. */
export async function send(port, operation, body) {
  const response = await fetch(`http://127.0.0.1:${port}/api/orpc/items/${operation}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  strictEqual(response.status, 200, `${operation} on port ${port} responded with ${response.status}`);
  return response;
}
