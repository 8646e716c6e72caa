import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { Redis } from 'ioredis';
import mongoose from 'mongoose';
import { LOCAL } from '../tools/checkout/root.mjs';
import { runMongodb, runRedis } from '../tools/embedded/start-databases.mjs';
import { freePort } from './processes.mjs';

/** The MongoDB and Redis that all subjects share. Each subject has its own database and queue. */
export class Databases {
  constructor(mongodb, redis) {
    this.uris = { mongodb: mongodb.uri, redis: redis.uri };
    this.pids = { mongod: mongodb.pid, redis: redis.pid };
    this.versions = { mongod: mongodb.version, redis: redis.version };
    this.client = new mongoose.mongo.MongoClient(mongodb.uri);
    // Without a listener, ioredis prints that it has lost the connection when Redis is stopped.
    this.redis = new Redis(redis.uri).on('error', () => undefined);
  }

  /**
   * Starts both with their data on the disk of the checkout, or MongoDB with its data in a folder that keeps it. The
   * system's temporary folder may be in memory, where journaling costs nothing.
   */
  static async start(launcher, kept) {
    mkdirSync(LOCAL, { recursive: true });
    const folder = launcher.temporaryFolder(LOCAL);
    const dataDir = kept === undefined ? folder : resolve(kept);
    const mongodb = await runMongodb(launcher, { dataDir });
    const redis = await runRedis(launcher, { dataDir: folder });
    return new Databases(mongodb, redis);
  }

  db({ MONGODB_URI }) {
    return this.client.db(new URL(MONGODB_URI).pathname.slice(1));
  }

  /** Returns the environment of a subject's processes: free ports, and its own database and queue. */
  async environment(name) {
    const uri = new URL(this.uris.mongodb);
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
      REDIS_URL: this.uris.redis,
      QUEUE_PREFIX: `bench-${name}`,
    };
  }
}
