import type { Database } from '@app/database';
import type { RedisConnection } from '@app/queue';
import type { Redis } from 'ioredis';

/** Returns what another primary of MongoDB changes. */
export async function primaryOfMongodb({ connection }: Database): Promise<string> {
  const { electionId } = await connection.getClient().db('admin').command({ hello: 1 });
  return JSON.stringify(electionId);
}

/** Returns what another primary of Redis changes, or the restart of one. */
export async function primariesOfRedis(redis: RedisConnection): Promise<string> {
  const ids = primariesOf(redis).map(async (node) => /run_id:(\w+)/.exec(await node.info('server'))?.[1]);
  return JSON.stringify((await Promise.all(ids)).sort());
}

/** Returns the primaries of a Cluster, or the only one. */
export function primariesOf(redis: RedisConnection): Redis[] {
  return 'nodes' in redis ? redis.nodes('master') : [redis];
}
