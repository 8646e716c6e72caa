import { LOCAL } from '../checkout/root.mjs';
import { runMongodb, runRedis } from '../embedded/start-databases.mjs';
import { reservePort } from '../processes/ports.mjs';

const PORTS = { mongodb: 27_117, redis: 6479 };
const DATABASE = 'item-listing';

/**
 * Starts a MongoDB that keeps its data in this checkout.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @returns {Promise<string>} its URI
 */
export async function startLocalMongodb(launcher) {
  return start(launcher, runMongodb, PORTS.mongodb);
}

/**
 * Starts a Redis that keeps its data in this checkout.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @returns {Promise<string>} its URI
 */
export async function startLocalRedis(launcher) {
  return start(launcher, runRedis, PORTS.redis);
}

async function start(launcher, run, preferredPort) {
  const port = await reservePort(launcher, preferredPort);
  const { uri } = await run(launcher, { dataDir: LOCAL, port, database: DATABASE });
  return uri;
}
