import { connectRedis, type RedisConnection } from '@app/queue';
import {
  createMongodb,
  createRedis,
  startMongodb,
  startRedis,
  startReplicaSet,
  type DatabaseServer,
} from '../support/database-servers.js';

/** Where to connect to. */
export interface StoreUris {
  mongodb: string;
  redis: string;
}

/** MongoDB and Redis for one test file, which may disrupt them and restore them afterwards. */
export class Stores {
  private constructor(
    readonly uris: StoreUris,
    readonly mongods: readonly DatabaseServer[] = [],
    private readonly ownRedis?: DatabaseServer,
  ) {}

  /** Starts a Redis, and a MongoDB replica set with this number of members. */
  static async start(members: 1 | 3): Promise<Stores> {
    const mongods = await Promise.all(Array.from({ length: members }, () => createMongodb()));
    const redis = await createRedis();
    const hosts = mongods.map(({ port }) => `127.0.0.1:${String(port)}`);
    const uris = { mongodb: `mongodb://${hosts.join(',')}/?replicaSet=rs0`, redis: redis.url };
    const [only] = mongods;
    const ready = members === 1 && only !== undefined ? startMongodb(only) : startReplicaSet(mongods);
    await Promise.all([ready, startRedis(redis)]);
    return new Stores(uris, mongods, redis);
  }

  /** Servers that run elsewhere. Only their operator can disrupt and restore them. */
  static external(uris: StoreUris): Stores {
    return new Stores(uris);
  }

  get redis(): DatabaseServer {
    if (this.ownRedis === undefined) throw new Error('Redis runs elsewhere');
    return this.ownRedis;
  }

  /** The only MongoDB, or the first of its replica set. */
  get mongod(): DatabaseServer {
    const [first] = this.mongods;
    if (first === undefined) throw new Error('there is none');
    return first;
  }

  /** Returns the connection string of a database. That of external servers is always the same. */
  mongodbUri(name: string): string {
    return this.ownRedis === undefined ? this.uris.mongodb : this.uris.mongodb.replace('/?', `/${name}?`);
  }

  /** Describes the stores for the report of a test run. */
  async versions(): Promise<string> {
    const connection = connectRedis(this.uris.redis, 'worker', () => undefined);
    const info = await connection.info('server');
    connection.disconnect();
    return `Redis ${/^redis_version:(\S+)/m.exec(info)?.[1] ?? '?'}, ${String(this.mongods.length)} MongoDB`;
  }

  /** Undoes whatever a fault did to the stores. */
  async restore(connection: RedisConnection): Promise<void> {
    if (this.ownRedis === undefined) return;
    for (const store of [...this.mongods, this.ownRedis]) {
      store.resume();
      if (!store.isRunning) store.start();
    }
    await connection.config('SET', 'maxmemory', '0');
    await connection.config('SET', 'min-replicas-to-write', '0');
  }

  async remove(): Promise<void> {
    await Promise.all([...this.mongods, ...(this.ownRedis ? [this.ownRedis] : [])].map((store) => store.remove()));
  }
}
