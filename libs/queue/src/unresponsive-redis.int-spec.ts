import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect as connectTo, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import type { CreateReply } from '@app/contracts';
import { pino } from 'pino';
import {
  createRedis,
  createSentinel,
  removeDatabaseServers,
  startRedis,
  startRedisCluster,
} from '../../../test/support/database-servers.js';
import { eventually } from '../../../test/support/eventually.js';
import { patient } from '../../../test/support/patient.js';
import { JobWorker } from './job-worker.js';
import { connectRedis, type RedisConnection, type RedisRole } from './redis.js';
import { ReplyPublisher, ReplySubscriber } from './reply-channel.js';

/** Longer than two checks of a connection, and the start of another one. */
const RECONNECTED_MS = 40_000;
const REPLY: CreateReply = { id: 'x', outcome: { kind: 'failed' } };

describe('a Redis that accepts connections but does not reply', () => {
  const open: { close: () => unknown }[] = [];
  afterEach(async () => {
    for (const each of open.splice(0).reverse()) await each.close();
    await removeDatabaseServers();
  });

  function connect(url: string, role: RedisRole): RedisConnection {
    const redis = patient(connectRedis(url, role, () => undefined));
    open.push({
      close: () => {
        redis.disconnect();
      },
    });
    return redis;
  }

  interface Proxy {
    port: number;
    /** The port that connections are passed to. None if undefined. */
    target: number | undefined;
    connections: number;
  }

  async function startProxy(): Promise<Proxy> {
    const sockets: Socket[] = [];
    const proxy: Proxy = { port: 0, target: undefined, connections: 0 };
    const server = createServer((client) => {
      proxy.connections += 1;
      sockets.push(client.on('error', () => undefined));
      if (proxy.target === undefined) return client.resume();
      const redis = connectTo(proxy.target, '127.0.0.1').on('error', () => client.destroy());
      sockets.push(redis);
      return client.pipe(redis).pipe(client);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    open.push({
      close: () => {
        server.close();
        for (const socket of sockets) socket.destroy();
      },
    });
    proxy.port = (server.address() as AddressInfo).port;
    return proxy;
  }

  function startWorker(url: string): JobWorker {
    const source = { redis: connect(url, 'worker'), queue: 'jobs', queuePrefix: 'test', concurrency: 1 };
    const handlers = { process: () => Promise.resolve([]), onFailed: () => undefined };
    const worker = new JobWorker(source, handlers, pino({ level: 'silent' }));
    worker.start();
    open.push({ close: () => worker.close(1000) });
    return worker;
  }

  /** Starts to listen for replies. Returns a function that waits for one. */
  function listen(url: string, publishTo: string): () => Promise<void> {
    const replies: CreateReply[] = [];
    const subscriber = new ReplySubscriber(connect(url, 'subscriber'), 'test');
    subscriber.listen((reply) => replies.push(reply));
    const publisher = new ReplyPublisher(connect(publishTo, 'worker'));
    return async () => {
      const before = replies.length;
      await eventually(async () => {
        await publisher.publish(subscriber.channel, [REPLY]);
        expect(replies.length).toBeGreaterThan(before);
      }, RECONNECTED_MS);
    };
  }

  it('a Sentinel that does not reply does not keep the others from being asked', async () => {
    const [redis, sentinel, silent] = [await createRedis(), await createSentinel(), await startProxy()];
    await startRedis(redis);
    const watched = `sentinel monitor main 127.0.0.1 ${String(redis.port)} 1\n`;
    await writeFile(join(sentinel.folder, 'sentinel.conf'), watched);
    sentinel.start();
    const url = `redis+sentinel://127.0.0.1:${String(silent.port)},127.0.0.1:${String(sentinel.port)}/main`;
    const producer = connect(url, 'producer');
    expect(await eventually(() => producer.ping(), RECONNECTED_MS)).toBe('PONG');
  });

  it('a worker connects again if Redis does not reply to its first commands', async () => {
    const [redis, proxy] = [await createRedis(), await startProxy()];
    await startRedis(redis);
    const worker = startWorker(`redis://127.0.0.1:${String(proxy.port)}`);
    await eventually(() => {
      expect(proxy.connections).toBeGreaterThan(0);
    });
    expect(await worker.redisResponds(1000)).toBe(false);
    proxy.target = redis.port;
    await eventually(async () => {
      expect(await worker.redisResponds(1000)).toBe(true);
    }, RECONNECTED_MS);
  });

  it('a subscriber connects again if Redis does not reply to its first commands', async () => {
    const [redis, proxy] = [await createRedis(), await startProxy()];
    await startRedis(redis);
    const expectReply = listen(`redis://127.0.0.1:${String(proxy.port)}`, redis.url);
    await eventually(() => {
      expect(proxy.connections).toBeGreaterThan(0);
    });
    proxy.target = redis.port;
    await expectReply();
  });

  it('a worker knows that the node of a Cluster that has its queue does not reply', async () => {
    const { url, nodes } = await startRedisCluster();
    const worker = startWorker(url);
    await eventually(async () => {
      expect(await worker.redisResponds(1000)).toBe(true);
    });
    await nodes[0].pause();
    for (let checks = 0; checks < 5; checks += 1) expect(await worker.redisResponds(200)).toBe(false);
    nodes[0].resume();
  });
});
