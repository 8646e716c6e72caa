import { randomUUID } from 'node:crypto';
import type { NewItem } from '@app/contracts';
import { CreateQueue, type ExistingJob, type NewJob } from './create-queue.js';
import { CREATE_QUEUE, keyPrefix } from './queue-settings.js';
import { connectRedis, untilReady, type RedisConnection } from './redis.js';

const UNLIMITED = { total: { jobs: 1000, bytes: 1_000_000 }, seller: undefined };

describe('CreateQueue', () => {
  let redis: RedisConnection;
  let queue: CreateQueue;
  let jobKey: string;
  let job: NewJob;
  beforeEach(async () => {
    redis = connectRedis(process.env['REDIS_URL'] ?? '', 'producer', () => undefined);
    await untilReady(redis);
    const prefix = randomUUID();
    queue = new CreateQueue(redis, prefix, UNLIMITED);
    const id = '65f000000000000000000001';
    job = { id, requestHash: 'hash', requestId: '', sellerId: 'anonymous', replyTo: 'replies', item: {} as NewItem };
    jobKey = `${keyPrefix(prefix)}:${CREATE_QUEUE}:${id}`;
    await queue.add(job);
  });
  afterEach(async () => {
    await queue.close();
  });

  async function makeUnreadable(): Promise<ExistingJob> {
    await redis.hset(jobKey, 'data', 'not JSON');
    return { requestHash: undefined, hasFailed: false, data: 'not JSON' };
  }
  const storedHash = async (): Promise<unknown> =>
    (JSON.parse((await redis.hget(jobKey, 'data')) ?? '{}') as Partial<NewJob>).requestHash;

  it('replaces the data of an unreadable job', async () => {
    const unreadable = await makeUnreadable();
    expect(await queue.replace(unreadable, job)).toBe('queued');
    expect(await storedHash()).toBe('hash');
  });

  it('does not overwrite what another request has put into an unreadable job', async () => {
    const unreadable = await makeUnreadable();
    await queue.replace(unreadable, { ...job, requestHash: 'first' });
    expect(await queue.replace(unreadable, { ...job, requestHash: 'second' })).toBe('queued');
    expect(await storedHash()).toBe('first');
  });

  it('does not count a replaced job as refused, even if Redis refuses to retry it', async () => {
    const unreadable = await makeUnreadable();
    jest.spyOn(queue, 'retry').mockResolvedValue('refused');
    expect(await queue.replace(unreadable, job)).toBe('unknown');
    expect(await storedHash()).toBe('hash');
  });

  it('counts a job as refused if Redis refuses to replace it', async () => {
    const unreadable = await makeUnreadable();
    redis.disconnect();
    expect(await queue.replace(unreadable, job)).toBe('refused');
  });
});
