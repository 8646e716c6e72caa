import { LOCAL } from '../checkout/root.mjs';
import { runMongodb, runRedis } from '../embedded/start-databases.mjs';
import { reservePort } from '../processes/ports.mjs';

const PORTS = { mongodb: 27_117, redis: 6479 };
const DATABASE = 'item-listing';

/** Starts a MongoDB that keeps its data in this checkout, and returns its URI. */
export async function startLocalMongodb(launcher) {
  const port = await reservePort(launcher, PORTS.mongodb);
  const { uri } = await runMongodb(launcher, { dataDir: LOCAL, port, database: DATABASE });
  return uri;
}

/** Starts a Redis that keeps its data in this checkout, and returns its URI. */
export async function startLocalRedis(launcher) {
  const { uri } = await runRedis(launcher, { dataDir: LOCAL, port: await reservePort(launcher, PORTS.redis) });
  return uri;
}
