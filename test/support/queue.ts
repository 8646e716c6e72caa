import type { CreateJob } from '@app/contracts';
import { newMongoId } from '@app/database';
import { connectRedis, CREATE_QUEUE, keyPrefix, type RedisConnection } from '@app/queue';
import { Queue } from 'bullmq';
import { uniqueWord, validInput } from './items.js';

/** Direct access to the queue of creates, as an operator has it. */
export interface OpenQueue {
  queue: Queue;
  redis: RedisConnection;
  close: () => Promise<void>;
}

/** Opens the queue of an environment, to read and write it without the service. */
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

/** Returns a job as the API adds it. */
export function createJob(changes: Partial<CreateJob> = {}): CreateJob {
  const item = { ...(validInput({ name: uniqueWord() }) as unknown as CreateJob['item']), categoryId: 7 };
  return {
    version: 1,
    id: newMongoId(),
    requestHash: 'hash',
    requestId: 'test',
    replyTo: 'nobody',
    sellerId: 'seller',
    item,
    ...changes,
  };
}
