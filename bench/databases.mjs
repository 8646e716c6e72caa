import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { Redis } from 'ioredis';
import mongoose from 'mongoose';
import { LOCAL } from '../tools/checkout/root.mjs';
import { runMongodb, runRedis } from '../tools/embedded/start-databases.mjs';
import { freePort } from './processes.mjs';

/**
 * Starts the MongoDB and Redis that all subjects share, with their data on the disk of the checkout, or MongoDB with its
 * data in a folder that keeps it. The system's temporary folder may be in memory, where journaling costs nothing.
 */
export async function startDatabases(launcher, kept) {
  mkdirSync(LOCAL, { recursive: true });
  const folder = launcher.temporaryFolder(LOCAL);
  const mongodb = await runMongodb(launcher, { dataDir: kept === undefined ? folder : resolve(kept) });
  const redis = await runRedis(launcher, { dataDir: folder });
  const client = new mongoose.mongo.MongoClient(mongodb.uri);
  return {
    pids: { mongod: mongodb.pid, redis: redis.pid },
    versions: { mongod: mongodb.version, redis: redis.version },
    // Without a listener, ioredis prints that it has lost the connection when Redis is stopped.
    redis: new Redis(redis.uri).on('error', () => undefined),
    db: ({ MONGODB_URI }) => client.db(new URL(MONGODB_URI).pathname.slice(1)),
    environment: (name) => environment(name, mongodb.uri, redis.uri),
  };
}

/** Returns the environment of a subject's processes: free ports, and its own database and queue. */
async function environment(name, mongodbUri, redisUrl) {
  const uri = new URL(mongodbUri);
  uri.pathname = `/${name}`;
  return {
    ...process.env,
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    WORKER_PORT: String(await freePort()),
    ADMIN_PORT: '0',
    MONGODB_URI: uri.href,
    REDIS_URL: redisUrl,
    QUEUE_PREFIX: `bench-${name}`,
  };
}
