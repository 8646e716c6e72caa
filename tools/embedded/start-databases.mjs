import { join } from 'node:path';
import { findBinary } from './find-binary.mjs';
import { startMongodb } from './mongodb.mjs';
import { startRedis } from './redis.mjs';
import { MONGOD, REDIS_SERVER } from './specs.mjs';

/**
 * Finds and starts MongoDB. The launcher stops when it exits.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @param {{dataDir: string, port: number, database?: string}} options its files are in a subfolder of `dataDir`
 */
export async function runMongodb(launcher, { dataDir, ...options }) {
  return run(launcher, MONGOD, startMongodb, { ...options, dataDir: join(dataDir, 'mongodb') });
}

/**
 * Finds and starts Redis. The launcher stops when it exits.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @param {{dataDir: string, port: number}} options its files are in a subfolder of `dataDir`
 */
export async function runRedis(launcher, { dataDir, ...options }) {
  return run(launcher, REDIS_SERVER, startRedis, { ...options, dataDir: join(dataDir, 'redis') });
}

async function run(launcher, spec, start, options) {
  const binary = await findBinary(launcher, spec);
  const title = `${spec.title} ${binary.version} on 127.0.0.1:${options.port}`;
  const { uri, child } = await launcher.steps.run(title, () => start(launcher, { ...options, binary }));
  launcher.watch(child);
  return { uri, pid: child.identity.pid, binary: binary.path };
}
