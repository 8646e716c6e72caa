import type { Database } from '@app/database';
import type { RedisConnection } from '@app/queue';
import type { Redis } from 'ioredis';
import { primariesOf } from './primaries.js';

/** Describes what keeps an item that got a 200, and a job that got a 202. */
export async function describeStores(
  database: Database,
  redis: RedisConnection,
): Promise<{ 200: string; 202: string }> {
  return { 200: await describeMongodb(database), 202: await describeRedis(redis) };
}

async function describeMongodb({ connection }: Database): Promise<string> {
  const hello = await connection.getClient().db('admin').command({ hello: 1 });
  const members = ['hosts', 'passives'].flatMap((kind) => (hello[kind] ?? []) as string[]).length;
  const arbiters = ((hello['arbiters'] ?? []) as string[]).length;
  if (members === 0) return 'in the journals of a majority of MongoDB';
  const majority = Math.floor((members + arbiters) / 2) + 1;
  return `in the journals of ${String(majority)} of the ${String(members)} members of MongoDB that hold data`;
}

async function describeRedis(redis: RedisConnection): Promise<string> {
  const descriptions = await Promise.all(primariesOf(redis).map(describePrimary));
  return `in the memory of Redis (${[...new Set(descriptions)].join(', or ')})`;
}

async function describePrimary(redis: Redis): Promise<string> {
  // A provider may not allow CONFIG.
  const setting = async (name: string): Promise<string> =>
    ((await redis.config('GET', name).catch(() => [])) as string[])[1] ?? 'unknown';
  const [appendonly, fsync, policy] = await Promise.all(['appendonly', 'appendfsync', 'maxmemory-policy'].map(setting));
  const replicas = /connected_slaves:(\d+)/.exec(await redis.info('replication'))?.[1] ?? 'unknown';
  const log = appendonly === 'yes' ? `its log flushed to disk: ${String(fsync)}` : `appendonly: ${String(appendonly)}`;
  const evicts = policy === 'noeviction' ? '' : `; maxmemory-policy ${String(policy)} may LOSE it, set noeviction`;
  return `${log}; replicas that follow asynchronously: ${replicas}${evicts}`;
}
