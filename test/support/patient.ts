import type { RedisConnection } from '@app/queue';
import { Cluster } from 'ioredis';

/**
 * Lets a connection wait for each reply as long as it takes. In a process that has stood still, the time limit of a
 * command can end before its reply is read.
 */
export function patient(redis: RedisConnection): RedisConnection {
  const options = redis instanceof Cluster ? redis.options.redisOptions : redis.options;
  if (options !== undefined) Object.assign(options, { commandTimeout: undefined, socketTimeout: undefined });
  return redis;
}
