import type { Database } from '@app/database';
import type { RedisConnection } from '@app/queue';
import type { Redis } from 'ioredis';
import { primariesOf } from './primaries.js';

/** What decides whether Redis keeps a job. */
const SETTINGS = ['appendonly', 'appendfsync', 'maxmemory-policy'];

/** Describes what keeps an item that got a 200, and a job that got a 202. */
export async function describeStores(
  database: Database,
  redis: RedisConnection,
): Promise<{ 200: string; 202: string }> {
  return { 200: await describeMongodb(database), 202: await describeRedis(redis) };
}

async function describeMongodb({ connection }: Database): Promise<string> {
  const hello = await connection.getClient().db('admin').command({ hello: 1 });
  const count = (...kinds: string[]): number => kinds.flatMap((kind) => (hello[kind] ?? []) as string[]).length;
  const [members, arbiters] = [count('hosts', 'passives'), count('arbiters')];
  const stored = 'in the journals of a majority of the voting members of MongoDB';
  // A router of a sharded cluster names no members, and no server names hidden ones or says which ones vote.
  if (members === 0) return stored;
  return `${stored} (visible to clients: ${String(members)} with data, ${String(arbiters)} arbiters)`;
}

async function describeRedis(redis: RedisConnection): Promise<string> {
  const descriptions = await Promise.all(primariesOf(redis).map(describePrimary));
  return `in the memory of Redis (${[...new Set(descriptions)].join(', or ')})`;
}

async function describePrimary(redis: Redis): Promise<string> {
  const replicas = /connected_slaves:(\d+)/.exec(await redis.info('replication'))?.[1] ?? 'unknown';
  const following = `replicas that follow asynchronously: ${replicas}`;
  const settings = await Promise.all(SETTINGS.map(async (name) => readSetting(redis, name)));
  const unread = SETTINGS.filter((_, index) => settings[index] === undefined);
  if (unread.length > 0) return `${unread.join(', ')} could not be read, and decide whether it is kept; ${following}`;
  const [appendonly, fsync, policy] = settings;
  const log = appendonly === 'yes' ? `its log flushed to disk: ${String(fsync)}` : `appendonly: ${String(appendonly)}`;
  const evicts = policy === 'noeviction' ? '' : `; maxmemory-policy ${String(policy)} may LOSE it, set noeviction`;
  return `${log}; ${following}${evicts}`;
}

/** Returns undefined if the server does not allow CONFIG. */
async function readSetting(redis: Redis, name: string): Promise<string | undefined> {
  return ((await redis.config('GET', name).catch(() => [])) as string[])[1];
}
