import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { recordDataVersion, requireReadableData } from './data-version.mjs';
import { findBinary } from './find-binary.mjs';
import { MONGODB } from './mongodb.mjs';
import { waitUntilReady } from './readiness.mjs';
import { REDIS } from './redis.mjs';

const GRACE_MS = 15_000;
const SHOWN_LINES = 10;

/**
 * A database server: where to get its program, and how to run it on 127.0.0.1.
 * @typedef {object} Database
 * @property {string} title
 * @property {string} name file name in the cache
 * @property {string[]} programs names on PATH
 * @property {string} variable environment variable; `pinned` skips PATH
 * @property {RegExp} versionPattern matches the version in the output of `--version`
 * @property {string} minimum oldest usable version
 * @property {import('./find-binary.mjs').Source[]} sources tried in order
 * @property {string} hint what to install
 * @property {number} rank in the order of stopping
 * @property {(place: {dataDir: string, logFile: string, port: number}) => string[]} settings its arguments
 * @property {(line: string) => boolean} isError whether a line of its log says why it exited
 * @property {(port: number, pid: number) => Promise<boolean>} isReady may reject while it is not ready; checks the pid,
 *   because another program may have taken the port first
 */

/**
 * Finds and starts MongoDB as a single-member replica set, which transactions and change streams require. The launcher
 * stops when it exits.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @param {{dataDir: string, port: number, database?: string}} options its files are in a subfolder of `dataDir`
 */
export async function runMongodb(launcher, { dataDir, port, database = '' }) {
  const server = await run(launcher, MONGODB, { dataDir: join(dataDir, 'mongodb'), port });
  return { ...server, uri: `mongodb://127.0.0.1:${port}/${database}?replicaSet=rs0` };
}

/**
 * Finds and starts Redis. The launcher stops when it exits.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @param {{dataDir: string, port: number}} options its files are in a subfolder of `dataDir`
 */
export async function runRedis(launcher, { dataDir, port }) {
  const server = await run(launcher, REDIS, { dataDir: join(dataDir, 'redis'), port });
  return { ...server, uri: `redis://127.0.0.1:${port}` };
}

/** @param {Database} database */
async function run(launcher, database, { dataDir, port }) {
  const { title, rank } = database;
  const { path, version } = await findBinary(launcher, database);
  const logFile = join(dataDir, `${database.name}.log`);
  mkdirSync(dataDir, { recursive: true });
  requireReadableData(dataDir, title, version);
  rmSync(logFile, { force: true });
  const child = await launcher.steps.run(`${title} ${version} on 127.0.0.1:${port}`, async () => {
    const args = database.settings({ dataDir, logFile, port });
    const started = launcher.start(title, path, args, { rank, graceMs: GRACE_MS });
    started.reportLines = () => [...started.lines, ...linesOf(logFile)].filter(database.isError).slice(-SHOWN_LINES);
    await waitUntilReady(started, () => database.isReady(port, started.pid));
    return started;
  });
  recordDataVersion(dataDir, version);
  launcher.watch(child);
  return { pid: child.pid, binary: path };
}

function linesOf(file) {
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
}
