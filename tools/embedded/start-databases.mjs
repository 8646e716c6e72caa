import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import getPort from 'get-port';
import { LOCAL } from '../checkout/root.mjs';
import { waitUntilReady } from '../processes/child.mjs';
import { reservePort } from '../processes/ports.mjs';
import { StepError } from '../steps.mjs';
import { compareVersions, findBinary } from './find-binary.mjs';
import { MONGODB } from './mongodb.mjs';
import { REDIS } from './redis.mjs';

const GRACE_MS = 15_000;
const SHOWN_LINES = 10;
const VERSION_FILE = 'written-by-version';

/**
 * Finds and starts MongoDB as a single-member replica set, which transactions and change streams require. Its files are
 * in a subfolder of `dataDir`, and it uses any free port. Without options, it has the data and the usual port of this
 * checkout.
 */
export async function runMongodb(launcher, { dataDir, database = '' } = { database: 'item-listing' }) {
  const server = await run(launcher, MONGODB, dataDir);
  return { ...server, uri: `mongodb://127.0.0.1:${server.port}/${database}?replicaSet=rs0` };
}

/** Finds and starts Redis, like {@link runMongodb}. */
export async function runRedis(launcher, { dataDir } = {}) {
  const server = await run(launcher, REDIS, dataDir);
  return { ...server, uri: `redis://127.0.0.1:${server.port}` };
}

/** Starts both, with their data in a folder or, without one, in a temporary folder that is removed at the end. */
export async function runDatabases(launcher, dataDir = launcher.temporaryFolder(tmpdir())) {
  return { mongodb: await runMongodb(launcher, { dataDir }), redis: await runRedis(launcher, { dataDir }) };
}

async function run(launcher, database, parent) {
  const { path, version } = await findBinary(launcher, database);
  const port = parent ? await getPort() : await reservePort(launcher, database.port);
  const dataDir = join(parent ?? LOCAL, database.folder);
  mkdirSync(dataDir, { recursive: true });
  requireReadableData(dataDir, database, version);
  const title = `${database.title} ${version} on 127.0.0.1:${port}`;
  const child = await launcher.steps.run(title, () => start(launcher, database, { path, dataDir, port }));
  writeFileSync(join(dataDir, VERSION_FILE), version);
  launcher.watch(child);
  return { port, pid: child.pid, binary: path, version };
}

async function start(launcher, { name, title, rank, settings, isError, isReady }, { path, dataDir, port }) {
  const logFile = join(dataDir, `${name}.log`);
  rmSync(logFile, { force: true });
  const child = launcher.start(title, path, settings({ dataDir, logFile, port }), { rank, graceMs: GRACE_MS });
  child.reportLines = () => [...child.lines, ...linesOf(logFile)].filter(isError).slice(-SHOWN_LINES);
  await waitUntilReady(child, () => isReady(port, child.pid));
  return child;
}

/** Throws if a newer release wrote the data: an older MongoDB would not start, and an older Redis would not see it. */
function requireReadableData(dataDir, { title }, version) {
  const [writtenBy = version] = linesOf(join(dataDir, VERSION_FILE));
  if (compareVersions(series(version), series(writtenBy)) >= 0) return;
  throw new StepError(`The data in ${dataDir} was written by ${title} ${writtenBy}, but this is ${version}`, {
    hint: `put ${title} ${series(writtenBy)} or newer on PATH, or delete that folder to start afresh`,
  });
}

function series(version) {
  return version.split('.', 2).join('.');
}

function linesOf(file) {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}
