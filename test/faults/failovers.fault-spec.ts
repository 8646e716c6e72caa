import type { Database } from '@app/database';
import { connectRedis, type RedisConnection } from '@app/queue';
import { createMongodb, removeDatabaseServers, startReplicaSet } from '../support/database-servers.js';
import { openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { startReplicatedCluster, startSentinels, type ReplicatedRedis } from '../support/replicated-redis.js';
import { failover } from './failover.js';
import { primariesOfRedis, primaryOfMongodb } from './primaries.js';
import { describeStores } from './staging-report.js';
import { Stores } from './stores.js';
import { expectSurvived } from './survival.js';

jest.setTimeout(300_000);

/** What `npm run certify` does with databases that run elsewhere. */
describe('failovers with three members of MongoDB', () => {
  let mongodb: string;
  let database: Database;
  let connection: RedisConnection;

  beforeAll(async () => {
    const members = [await createMongodb(), await createMongodb(), await createMongodb()];
    await startReplicaSet(members);
    mongodb = `mongodb://${members.map(({ port }) => `127.0.0.1:${String(port)}`).join(',')}/own?replicaSet=rs0`;
    database = await openDatabase({ MONGODB_URI: mongodb });
  });
  afterEach(async () => {
    connection.disconnect();
    await database.connection.dropDatabase();
  });
  afterAll(async () => {
    await database.close();
    await removeDatabaseServers();
  });

  async function connect({ url }: ReplicatedRedis): Promise<Stores> {
    connection = connectRedis(url, 'producer', () => undefined);
    await eventually(() => connection.ping());
    return Stores.external({ mongodb, redis: url });
  }

  const expectSurvivedFailover = async (redis: ReplicatedRedis, cause: () => Promise<unknown>): Promise<void> => {
    const stores = await connect(redis);
    const primary = (): Promise<string> => primariesOfRedis(connection);
    await expectSurvived(stores, failover({ name: 'a failover of Redis', cause, primary }));
  };

  it('no item is lost or duplicated with Redis Sentinel when the primary of MongoDB steps down', async () => {
    const stores = await connect(await startSentinels());
    const admin = database.connection.getClient().db('admin');
    const cause = (): Promise<unknown> => admin.command({ replSetStepDown: 10, secondaryCatchUpPeriodSecs: 5 });
    const primary = (): Promise<string> => primaryOfMongodb(database);
    await expectSurvived(stores, failover({ name: 'a primary that steps down', cause, primary }));
    const { 200: item, 202: job } = await describeStores(database, connection);
    expect(item).toBe(
      'in the journals of a majority of the voting members of MongoDB (visible to clients: 3 with data, 0 arbiters)',
    );
    expect(job).toMatch(/^in the memory of Redis \(its log flushed to disk: everysec; replicas .*: 1\)$/);
  });

  it('no item is lost or duplicated with Redis Sentinel when Redis fails over', async () => {
    const redis = await startSentinels();
    await expectSurvivedFailover(redis, redis.failOver);
  });

  it('no item is lost or duplicated with Redis Sentinel when the primary of Redis is killed', async () => {
    const redis = await startSentinels();
    await expectSurvivedFailover(redis, redis.killPrimary);
  });

  it('no item is lost or duplicated with Redis Cluster when each primary fails over', async () => {
    const redis = await startReplicatedCluster();
    await expectSurvivedFailover(redis, redis.failOver);
    const { 202: job } = await describeStores(database, connection);
    expect(job).toMatch(/^in the memory of Redis \(its log flushed to disk: everysec; replicas .*: 1\)$/);
  });
});
