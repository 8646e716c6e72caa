import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isListening } from '../processes/ports.mjs';
import { RANK } from '../processes/stop-in-order.mjs';
import { recordDataVersion, requireReadableData } from './data-version.mjs';
import { lastLinesOf, waitUntilReady } from './readiness.mjs';

const REPLICA_SET = 'rs0';
const GRACE_MS = 15_000;

/**
 * Starts MongoDB on 127.0.0.1 as a single-member replica set, which transactions and change streams require.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @param {{binary: {path: string, version: string}, dataDir: string, port: number, database?: string}} options
 * @returns {Promise<{uri: string, child: import('../processes/child.mjs').Child}>} once it is writable
 */
export async function startMongodb(launcher, { binary, dataDir, port, database = '' }) {
  mkdirSync(dataDir, { recursive: true });
  requireReadableData(dataDir, 'MongoDB', binary.version);
  const logFile = join(dataDir, 'mongod.log');
  rmSync(logFile, { force: true });
  const args = settings({ dataDir, port, logFile });
  const child = launcher.start('MongoDB', binary.path, args, { rank: RANK.mongodb, graceMs: GRACE_MS });
  child.reportLines = () => [...child.kept.filter(isRelevant), ...lastLinesOf(logFile, isRelevant)].map(describe);
  await waitUntilReady(child, () => isListening('127.0.0.1', port));
  await withClient(port, async (admin) => {
    await waitUntilReady(child, () => isOurs(admin, child.identity.pid));
    await configureReplicaSet(admin, `127.0.0.1:${port}`);
    await waitUntilReady(child, () => isPrimary(admin));
  });
  recordDataVersion(dataDir, binary.version);
  return { uri: `mongodb://127.0.0.1:${port}/${database}?replicaSet=${REPLICA_SET}`, child };
}

function settings({ dataDir, port, logFile }) {
  const options = Object.entries({
    replSet: REPLICA_SET,
    bind_ip: '127.0.0.1',
    port,
    dbpath: dataDir,
    logpath: logFile,
    // Limited because it shares a developer's machine.
    wiredTigerCacheSizeGB: 1,
    // Allows more dirty pages than the default (5 %, at most 20 %): each item changes many pages of the search index.
    wiredTigerEngineConfigString: 'eviction_dirty_target=30,eviction_dirty_trigger=60',
    oplogSize: 512,
    setParameter: 'diagnosticDataCollectionEnabled=false',
  }).flatMap(([name, value]) => [`--${name}`, String(value)]);
  // No socket file: it would be in the shared temporary folder, where another user's may have the same name.
  return [...options, '--quiet', '--nounixsocket'];
}

/** Imports mongoose dynamically, because this file is loaded before the dependencies are installed. */
async function withClient(port, work) {
  const { default: mongoose } = await import('mongoose');
  const client = new mongoose.mongo.MongoClient(`mongodb://127.0.0.1:${port}/`, { directConnection: true });
  try {
    return await work(client.db('admin'));
  } finally {
    await client.close();
  }
}

/** Checks the pid, because another program may have taken the port first. */
async function isOurs(admin, pid) {
  const status = await admin.command({ serverStatus: 1 });
  return Number(status.pid) === pid;
}

async function configureReplicaSet(admin, host) {
  const members = [{ _id: 0, host }];
  const config = await currentConfig(admin);
  if (config === undefined) {
    await admin.command({ replSetInitiate: { _id: REPLICA_SET, members } });
  } else if (config.members[0].host !== host) {
    // On a different port than last time, mongod does not find itself in the stored configuration.
    const moved = { ...config, version: config.version + 1, members: [{ ...config.members[0], host }] };
    await admin.command({ replSetReconfig: moved, force: true });
  }
}

async function currentConfig(admin) {
  try {
    return (await admin.command({ replSetGetConfig: 1 })).config;
  } catch (error) {
    if (error.codeName === 'NotYetInitialized') return undefined;
    throw error;
  }
}

async function isPrimary(admin) {
  return (await admin.command({ hello: 1 })).isWritablePrimary;
}

/** mongod logs every connection and setting. Only errors (E), fatal errors (F) and plain text say why it exited. */
function isRelevant(line) {
  return !/"s":"[IWD]/.test(line);
}

/** Extracts the message and the error from a JSON log line. */
function describe(line) {
  try {
    const { msg, attr } = JSON.parse(line);
    return [msg, attr?.error?.errmsg ?? attr?.error].filter((part) => typeof part === 'string').join(': ');
  } catch {
    return line;
  }
}
