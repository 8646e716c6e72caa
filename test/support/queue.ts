import { Queue } from 'bullmq';
import { connectRedis, CREATE_QUEUE, keyPrefix, type RedisConnection } from '@app/queue';

/** The queue of creates as an operator sees it. */
export interface OpenQueue {
  queue: Queue;
  redis: RedisConnection;
  close: () => Promise<void>;
}

/** The queue of an environment, to look at and to write to behind the service's back. */
export function openQueue({ REDIS_URL: url = '', QUEUE_PREFIX: prefix = '' }: NodeJS.ProcessEnv): OpenQueue {
  const redis = connectRedis(url, 'worker', () => undefined);
  const queue = new Queue(CREATE_QUEUE, { connection: redis, prefix: keyPrefix(prefix) });
  queue.on('error', () => undefined);
  const close = async (): Promise<void> => {
    await queue.close();
    redis.disconnect();
  };
  return { queue, redis, close };
}
