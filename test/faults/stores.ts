import { connectRedis, type RedisConnection } from '@app/queue';
import {
  createMongodb,
  createRedis,
  startMongodb,
  startRedis,
  startReplicaSet,
  type DatabaseServer,
} from '../support/database-servers.js';

/** MongoDB and Redis for one test file, which may disrupt them and restore them afterwards. */
export class Stores {
  private constructor(
    readonly mongods: DatabaseServer[],
    readonly redis: DatabaseServer,
  ) {}

  /** Starts a Redis, and a MongoDB replica set with this number of members. */
  static async start(members: 1 | 3): Promise<Stores> {
    const mongods = await Promise.all(Array.from({ length: members }, () => createMongodb()));
    const stores = new Stores(mongods, await createRedis());
    const [only] = mongods;
    const ready = members === 1 && only !== undefined ? startMongodb(only) : startReplicaSet(mongods);
    await Promise.all([ready, startRedis(stores.redis)]);
    return stores;
  }

  /** The only MongoDB, or the first of its replica set. */
  get mongod(): DatabaseServer {
    const [first] = this.mongods;
    if (first === undefined) throw new Error('there is none');
    return first;
  }

  /** Returns the connection string of a database. */
  mongodbUri(name: string): string {
    const hosts = this.mongods.map(({ port }) => `127.0.0.1:${String(port)}`);
    return `mongodb://${hosts.join(',')}/${name}?replicaSet=rs0`;
  }

  /** Describes the stores for the report of a test run. */
  async versions(): Promise<string> {
    const connection = connectRedis(this.redis.url, 'worker', () => undefined);
    const info = await connection.info('server');
    connection.disconnect();
    return `Redis ${/^redis_version:(\S+)/m.exec(info)?.[1] ?? '?'}, ${String(this.mongods.length)} MongoDB`;
  }

  /** Undoes whatever a fault did to the stores. */
  async restore(connection: RedisConnection): Promise<void> {
    for (const store of [...this.mongods, this.redis]) {
      store.resume();
      if (!store.isRunning) store.start();
    }
    await connection.config('SET', 'maxmemory', '0');
    await connection.config('SET', 'min-replicas-to-write', '0');
  }

  async remove(): Promise<void> {
    await Promise.all([...this.mongods, this.redis].map((store) => store.remove()));
  }
}
