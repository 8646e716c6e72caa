import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import type { CreateReply } from '@app/contracts';
import { eventually } from '../../../test/support/eventually.js';
import { ownRedis, ownSentinel, readyRedis, removeOwnDatabases } from '../../../test/support/own-databases.js';
import { CreateQueue } from './create-queue.js';
import { JobWorker } from './job-worker.js';
import { CREATE_QUEUE } from './queue-settings.js';
import { connectRedis, redisAnswers, type RedisConnection, type RedisRole } from './redis.js';
import { ReplyPublisher, ReplySubscriber } from './reply-channel.js';

const SLOTS = Array.from({ length: 16_384 }, (_, slot) => slot);

jest.setTimeout(30_000);

describe('the queue and the reply channel', () => {
  let open: RedisConnection[];
  beforeEach(() => {
    open = [];
  });
  afterEach(async () => {
    for (const redis of open) redis.disconnect();
    await removeOwnDatabases();
  });

  function connect(url: string, role: RedisRole): RedisConnection {
    const redis = connectRedis(url, role, () => undefined);
    open.push(redis);
    return redis;
  }

  /** A job goes from the queue to a worker, and a reply goes back. */
  async function expectRoundTrip(url: string): Promise<void> {
    const producer = connect(url, 'producer');
    const queue = new CreateQueue(producer, 'test', { jobs: 1000, bytes: 1_000_000 });
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
      expect(await redisAnswers(producer, 1000)).toBe(true);
    });
    const job = { requestHash: 'h', requestId: 'r', replyTo: subscriber.channel, sellerId: 's', item: {} as never };
    let sent = 0;
    await eventually(async () => {
      // A reply that is published before the subscription is there is lost.
      const id = `job-${String(sent++)}`;
      expect(await queue.add({ id, ...job })).toBe('queued');
      await eventually(() => {
        expect(replies).toContainEqual({ id, outcome: { kind: 'failed' } });
      }, 500);
    });
    expect(await queue.findStates(['job-0'])).not.toContain('failed');
    await worker.close();
    subscriber.close();
    publisher.close();
    await queue.close();
  }

  it('work on one server, with a password and a database of its own', async () => {
    const redis = await ownRedis('--requirepass', 'p@ss:w/rd');
    const url = `redis://:${encodeURIComponent('p@ss:w/rd')}@127.0.0.1:${String(redis.port)}`;
    redis.start();
    await expectRoundTrip(`${url}/3`);
    const others = connect(`${url}/0`, 'worker');
    expect(await others.dbsize()).toBe(0);
  });

  it('work on the primary that Sentinels name', async () => {
    const redis = await ownRedis();
    const sentinel = await ownSentinel();
    await readyRedis(redis);
    const watched = `sentinel monitor main 127.0.0.1 ${String(redis.port)} 1\n`;
    await writeFile(join(sentinel.folder, 'sentinel.conf'), watched);
    sentinel.start();
    await expectRoundTrip(`redis+sentinel://127.0.0.1:${String(sentinel.port)}/main/1`);
  });

  it('work on a Cluster', async () => {
    const redis = await ownRedis('--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1');
    redis.start();
    const node = new Redis({ port: redis.port, retryStrategy: () => 50, maxRetriesPerRequest: null });
    node.on('error', () => undefined);
    open.push(node);
    await node.cluster('ADDSLOTS', ...SLOTS);
    await eventually(async () => {
      expect(await node.cluster('INFO')).toContain('cluster_state:ok');
    });
    await expectRoundTrip(`redis+cluster://127.0.0.1:${String(redis.port)}`);
  });
});
