import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { Redis } from 'ioredis';
import mongoose from 'mongoose';
import { LOCAL } from '../tools/checkout/root.mjs';
import { runMongodb, runRedis } from '../tools/embedded/start-databases.mjs';
import { anyFreePort } from '../tools/processes/ports.mjs';

/** The MongoDB and Redis that all subjects share. Each subject has its own database and queue. */
export class Databases {
  #mongodb;
  #redis;
  #client;

  /**
   * Starts both with their data on the disk of the checkout. The system's temporary folder may be in memory, where
   * journaling costs nothing.
   * @param {import('../tools/processes/launcher.mjs').Launcher} launcher
   * @param {{data?: string}} [options] `data` is a folder that keeps MongoDB's data for the next run
   */
  static async start(launcher, { data } = {}) {
    mkdirSync(LOCAL, { recursive: true });
    const dataDir = launcher.temporaryFolder(LOCAL);
    const databases = new Databases();
    const kept = data === undefined ? dataDir : resolve(data);
    databases.#mongodb = await runMongodb(launcher, { dataDir: kept, port: await anyFreePort() });
    databases.#redis = await runRedis(launcher, { dataDir, port: await anyFreePort() });
    databases.#client = await new mongoose.mongo.MongoClient(databases.#mongodb.uri).connect();
    return databases;
  }

  get redisUrl() {
    return this.#redis.uri;
  }

  get pids() {
    return { mongod: this.#mongodb.pid, redis: this.#redis.pid };
  }

  uriOf(name) {
    const uri = new URL(this.#mongodb.uri);
    uri.pathname = `/${name}`;
    return uri.href;
  }

  /** @returns {import('mongoose').mongo.Db} */
  db(name) {
    return this.#client.db(name);
  }

  /**
   * Sets when Redis flushes its append-only file to disk.
   * @param {'everysec' | 'always'} when
   */
  async appendFsync(when) {
    await this.#withRedis((redis) => redis.config('SET', 'appendfsync', when));
  }

  async versions() {
    const { version: mongod } = await this.#client.db('admin').command({ buildInfo: 1 });
    const info = await this.#withRedis((redis) => redis.info('server'));
    return { mongod, redis: /redis_version:(\S+)/.exec(info)?.[1] };
  }

  async redisMegabytes() {
    const info = await this.#withRedis((redis) => redis.info('memory'));
    return Number(/used_memory:(\d+)/.exec(info)?.[1]) / 1e6;
  }

  async close() {
    await this.#client.close();
  }

  async #withRedis(work) {
    const redis = new Redis(this.redisUrl);
    try {
      return await work(redis);
    } finally {
      redis.disconnect();
    }
  }
}
