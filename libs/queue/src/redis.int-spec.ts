import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Job } from 'bullmq';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import type { CreateReply } from '@app/contracts';
import { throttle } from '@app/runtime';
import { eventually } from '../../../test/support/eventually.js';
import { median } from '../../../test/support/median.js';
import {
  createRedis,
  createSentinel,
  startRedis,
  startRedisCluster,
  removeDatabaseServers,
} from '../../../test/support/database-servers.js';
import { patient } from '../../../test/support/patient.js';
import { startBehindOneAddress } from '../../../test/support/replicated-redis.js';
import { CreateQueue } from './create-queue.js';
import { JobWorker } from './job-worker.js';
import { CREATE_QUEUE } from './queue-settings.js';
import { connectRedis, redisResponds, type RedisConnection, type RedisRole } from './redis.js';
import { ReplyPublisher, ReplySubscriber } from './reply-channel.js';

describe('the queue on Redis', () => {
  let open: RedisConnection[];
  beforeEach(() => {
    open = [];
  });
  afterEach(async () => {
    for (const redis of open) redis.disconnect();
    await removeDatabaseServers();
  });

  function connect(url: string, role: RedisRole): RedisConnection {
    const redis = patient(connectRedis(url, role, () => undefined));
    open.push(redis);
    return redis;
  }

  /** Expects a worker to get a job from the queue, and its reply to arrive. */
  async function expectRoundTrip(url: string): Promise<void> {
    const producer = connect(url, 'producer');
    const queue = new CreateQueue(producer, 'test', { total: { jobs: 1000, bytes: 1_000_000 }, seller: undefined });
    const subscriber = new ReplySubscriber(connect(url, 'subscriber'), 'test');
    const replies: CreateReply[] = [];
    subscriber.listen((reply) => replies.push(reply));
    const publisher = new ReplyPublisher(connect(url, 'producer'));
    const source = { redis: connect(url, 'worker'), queue: CREATE_QUEUE, queuePrefix: 'test', concurrency: 1 };
    const worker = new JobWorker(
      source,
      {
        process: async (jobs) => {
          for (const { id = '', data } of jobs) {
            await publisher.publish((data as { replyTo: string }).replyTo, [{ id, outcome: { kind: 'failed' } }]);
          }
          return [];
        },
        onFailed: () => undefined,
      },
      pino({ level: 'silent' }),
    );
    worker.start();

    await eventually(async () => {
      expect(await redisResponds(producer, 1000)).toBe(true);
    });
    const job = { requestHash: 'h', requestId: 'r', replyTo: subscriber.channel, sellerId: 's', item: {} as never };
    let sent = 0;
    await eventually(async () => {
      // Replies that are published before the subscription exists are lost.
      const id = `job-${String(sent++)}`;
      expect(await queue.add({ id, ...job })).toBe('queued');
      await eventually(() => {
        expect(replies).toContainEqual({ id: expect.stringMatching(/^job-/) as string, outcome: { kind: 'failed' } });
      }, 500);
    });
    expect(await queue.findStates(['job-0'])).not.toContain('failed');
    await worker.close(1000);
    subscriber.close();
    await queue.close();
  }

  it('the queue delivers jobs and replies through a single server, with a password and a database of its own', async () => {
    const redis = await createRedis('--requirepass', 'p@ss:w/rd');
    const url = `redis://:${encodeURIComponent('p@ss:w/rd')}@127.0.0.1:${String(redis.port)}`;
    redis.start();
    await expectRoundTrip(`${url}/3`);
    const others = connect(`${url}/0`, 'worker');
    expect(await others.dbsize()).toBe(0);
  });

  it('the queue finds the new primary behind the address of a single server whose former one is a replica now', async () => {
    const { url, failOver, close } = await startBehindOneAddress();
    const queue = new CreateQueue(connect(url, 'producer'), 'test', {
      total: { jobs: 1000, bytes: 1_000_000 },
      seller: undefined,
    });
    const taken: unknown[] = [];
    const source = { redis: connect(url, 'worker'), queue: CREATE_QUEUE, queuePrefix: 'test', concurrency: 1 };
    const process = (jobs: readonly Job[]): Promise<[]> => {
      taken.push(...jobs.map(({ id }) => id));
      return Promise.resolve([]);
    };
    const worker = new JobWorker(source, { process, onFailed: () => undefined }, pino({ level: 'silent' }));
    worker.start();
    const job = { requestHash: 'h', requestId: 'r', replyTo: 'c', sellerId: 's', item: {} as never };
    const expectTaken = (id: string): Promise<void> =>
      eventually(async () => {
        expect(await queue.add({ id, ...job })).toBe('queued');
        expect(taken).toContain(id);
      });
    await expectTaken('before');

    await failOver();
    await expectTaken('after');
    await worker.close(1000);
    await queue.close();
    close();
  });

  it('the queue delivers jobs and replies through the primary that Sentinels name', async () => {
    const redis = await createRedis();
    const sentinel = await createSentinel();
    await startRedis(redis);
    const watched = `sentinel monitor main 127.0.0.1 ${String(redis.port)} 1\n`;
    await writeFile(join(sentinel.folder, 'sentinel.conf'), watched);
    sentinel.start();
    await expectRoundTrip(`redis+sentinel://127.0.0.1:${String(sentinel.port)}/main/1`);
  });

  it('the queue delivers jobs and replies through a Cluster', async () => {
    const { url } = await startRedisCluster();
    await expectRoundTrip(url);
  });

  it('the queue refuses creates immediately, and reports why only once, while its Cluster node is down', async () => {
    const { url, nodes } = await startRedisCluster();
    const lines: string[] = [];
    const producer = connectRedis(
      url,
      'producer',
      throttle((line: string) => lines.push(line), 60_000),
    );
    open.push(producer);
    const queue = new CreateQueue(producer, 'test', { total: { jobs: 1000, bytes: 1_000_000 }, seller: undefined });
    await eventually(() => queue.backlog.admit(1, 10_000));
    await nodes[0].kill();
    await eventually(async () => {
      await expect(queue.backlog.admit(1, 10_000)).rejects.toThrow();
    });
    // Several times, and the median, because other tests run at the same time.
    await eventually(async () => {
      const durations: number[] = [];
      for (let n = 0; n < 10; n++) {
        const since = performance.now();
        await expect(queue.backlog.admit(1, 10_000)).rejects.toThrow();
        durations.push(performance.now() - since);
      }
      expect(median(durations)).toBeLessThan(100);
    });
    await eventually(() => {
      expect(lines).toEqual([expect.stringMatching(/^Redis is unavailable, trying again: /)]);
    });
  });

  it('the queue reads the memory of the Cluster node that holds it', async () => {
    const { url, nodes } = await startRedisCluster();
    const producer = connect(url, 'producer');
    const queue = new CreateQueue(producer, 'test', { total: { jobs: 1000, bytes: 1_000_000 }, seller: undefined });
    const other = new Redis({ port: nodes[1].port });
    open.push(other);
    await other.config('SET', 'maxmemory', '100mb');
    await eventually(() => queue.backlog.state());
    for (let n = 0; n < 20; n++) expect(await queue.backlog.state()).toMatchObject({ memory: 0 });
  });

  it('the queue reports no limit once its jobs are finished', async () => {
    const redis = await createRedis();
    await startRedis(redis);
    const queue = new CreateQueue(connect(redis.url, 'producer'), 'test', {
      total: { jobs: 3, bytes: 1_000_000 },
      seller: undefined,
    });
    // All of them by one sample: those that were admitted count only until the next one.
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    try {
      await eventually(() => queue.backlog.admit(1, undefined));
      for (let n = 1; n < 3; n++) await queue.backlog.admit(1, undefined);
      expect(await queue.backlog.admit(1, undefined)).toBeDefined();
    } finally {
      clock.mockRestore();
    }
    expect((await queue.backlog.state()).refuses).toBeUndefined();
  });

  it('replies are sent in messages that a subscriber can take', async () => {
    const redis = await createRedis();
    await startRedis(redis);
    const subscriber = connect(redis.url, 'subscriber');
    const lengths: number[] = [];
    await subscriber.subscribe('replies');
    subscriber.on('message', (_channel: string, message: string) => lengths.push(message.length));
    const reply: CreateReply = { id: 'x'.repeat(5000), outcome: { kind: 'failed' } };
    await new ReplyPublisher(connect(redis.url, 'worker')).publish('replies', Array<CreateReply>(100).fill(reply));
    await eventually(() => {
      expect(lengths.reduce((sum, length) => sum + length, 0)).toBeGreaterThan(500_000);
    });
    expect(Math.max(...lengths)).toBeLessThan(64 * 1024);
  });

  it('the queue is sampled again even if the clock is set back', async () => {
    const redis = await createRedis();
    await startRedis(redis);
    const producer = connect(redis.url, 'producer');
    const queue = new CreateQueue(producer, 'test', { total: { jobs: 1, bytes: 1_000_000 }, seller: undefined });
    await eventually(() => queue.backlog.admit(1, undefined));
    const now = Date.now.bind(Date);
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000);
    try {
      await eventually(async () => {
        expect(await queue.backlog.admit(1, undefined)).toBeUndefined();
      });
    } finally {
      clock.mockRestore();
    }
  });

  it('Sentinels are not reported as unreachable when only Redis is down', async () => {
    const [redis, sentinel] = [await createRedis(), await createSentinel()];
    await startRedis(redis);
    const watched = `sentinel monitor main 127.0.0.1 ${String(redis.port)} 1\n`;
    await writeFile(join(sentinel.folder, 'sentinel.conf'), watched);
    sentinel.start();
    const lines: string[] = [];
    const producer = connectRedis(`redis+sentinel://127.0.0.1:${String(sentinel.port)}/main`, 'producer', (line) => {
      lines.push(line);
    });
    open.push(producer);
    await eventually(() => producer.ping());
    await redis.kill();
    await eventually(() => {
      expect(lines.length).toBeGreaterThan(10);
    });
    redis.start();
    await eventually(() => producer.ping());
    expect(lines.filter((line) => line.includes('unreachable'))).toEqual([]);
  });
});
