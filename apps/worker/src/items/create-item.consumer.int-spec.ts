import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '@app/database';
import type { ItemCreator } from '@app/items';
import { connectRedis, JobWorker, type ReplyPublisher } from '@app/queue';
import { TimeoutError } from '@app/runtime';
import { mongo } from 'mongoose';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { freshEnvironment } from '../../../../test/support/environment.js';
import { eventually } from '../../../../test/support/eventually.js';
import { createJob, openQueue } from '../../../../test/support/queue.js';
import { BatchMetrics } from './batch-metrics.js';
import { CreateItemConsumer } from './create-item.consumer.js';
import { CreateItemProcessor, UnknownVersionError } from './create-item.processor.js';
import type { SearchIndexer } from './search-indexer.js';

const CHECK_EVERY_MS = 2000;
const DEAD_AFTER_CHECKS = 15;
const CLOCK = ['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const;
const TIMERS = ['setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout'] as const;

describe('CreateItemConsumer', () => {
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('a consumer reports that it is dead after 15 checks in a row, but not when Redis is back after the time of as many checks', async () => {
    const { REDIS_URL: url = '', QUEUE_PREFIX: queuePrefix = '' } = freshEnvironment();
    const redis = connectRedis(url, 'worker', () => undefined);
    let reply: (waiting: number) => void = () => undefined;
    const waiting = new Promise<number>((resolve) => (reply = resolve));
    jest.spyOn(JobWorker.prototype, 'countWaiting').mockReturnValue(waiting);
    jest.spyOn(JobWorker.prototype, 'isQueuePaused').mockResolvedValue(false);
    const database = { responds: () => Promise.resolve(true) } as unknown as Database;
    const metrics = new BatchMetrics(new Registry());
    const logger = pino({ level: 'silent' });
    const source = { concurrency: 1, queuePrefix };
    const consumer = new CreateItemConsumer(redis, source, {} as CreateItemProcessor, database, logger, metrics);
    const onDead = jest.fn();
    // Only the interval of the checks is faked.
    jest.useFakeTimers({ doNotFake: [...CLOCK, ...TIMERS] });
    consumer.start(onDead);
    jest.advanceTimersByTime(2 * DEAD_AFTER_CHECKS * CHECK_EVERY_MS);
    reply(1);
    await nextTurn();
    expect(onDead).not.toHaveBeenCalled();
    for (let check = 0; check < DEAD_AFTER_CHECKS; check++) {
      jest.advanceTimersByTime(CHECK_EVERY_MS);
      await nextTurn();
    }
    expect(onDead).toHaveBeenCalled();
    jest.useRealTimers();
    await consumer.stop(0);
    redis.disconnect();
  });

  it.each([
    ['MongoDB responds but confirms no write', new TimeoutError('no majority')],
    ['all jobs are of a version that it does not know', new UnknownVersionError()],
  ])('a consumer does not report that it is dead while %s', async (_what, error) => {
    const env = freshEnvironment();
    const { REDIS_URL: url = '', QUEUE_PREFIX: queuePrefix = '' } = env;
    const redis = connectRedis(url, 'worker', () => undefined);
    const jobs = openQueue(env);
    jest.spyOn(JobWorker.prototype, 'countWaiting').mockResolvedValue(1);
    const database = { responds: () => Promise.resolve(true) } as unknown as Database;
    let tried = 0;
    const processor = {
      process: (batch: unknown[]) => {
        tried += batch.length;
        return Promise.resolve(batch.map(() => error));
      },
    } as unknown as CreateItemProcessor;
    const metrics = new BatchMetrics(new Registry());
    const consumer = new CreateItemConsumer(
      redis,
      { concurrency: 1, queuePrefix },
      processor,
      database,
      pino({ level: 'silent' }),
      metrics,
    );
    const onDead = jest.fn();
    jest.useFakeTimers({ doNotFake: [...CLOCK, ...TIMERS] });
    consumer.start(onDead);
    for (let check = 0; check < 2 * DEAD_AFTER_CHECKS; check++) {
      const before = tried;
      await jobs.queue.add('create', {});
      await eventually(() => {
        expect(tried).toBeGreaterThan(before);
      });
      jest.advanceTimersByTime(CHECK_EVERY_MS);
      await nextTurn();
    }
    jest.useRealTimers();
    await consumer.stop(0);
    redis.disconnect();
    await jobs.queue.obliterate({ force: true });
    await jobs.close();
    expect(onDead).not.toHaveBeenCalled();
  });

  it('a consumer says which error makes it take no jobs, but not its message, which may quote an item', async () => {
    const env = freshEnvironment();
    const { REDIS_URL: url = '', QUEUE_PREFIX: queuePrefix = '' } = env;
    const redis = connectRedis(url, 'worker', () => undefined);
    const jobs = openQueue(env);
    const error = new mongo.MongoServerError({ code: 91, message: 'the server is shutting down' });
    const consumer = new CreateItemConsumer(
      redis,
      { concurrency: 1, queuePrefix },
      { process: (batch: unknown[]) => Promise.resolve(batch.map(() => error)) } as unknown as CreateItemProcessor,
      { responds: () => Promise.resolve(false) } as unknown as Database,
      pino({ level: 'silent' }),
      new BatchMetrics(new Registry()),
    );
    consumer.start(() => undefined);
    await jobs.queue.add('create', {});
    await eventually(() => {
      expect(consumer.idleReason).toBe('MongoDB is unavailable: MongoServerError 91');
    }, 10_000);
    await consumer.stop(0);
    redis.disconnect();
    await jobs.queue.obliterate({ force: true });
    await jobs.close();
  });

  it('a consumer does not report that it is dead while it processes jobs alone that workers died of', async () => {
    const env = freshEnvironment();
    const { REDIS_URL: url = '', QUEUE_PREFIX: queuePrefix = '' } = env;
    const redis = connectRedis(url, 'worker', () => undefined);
    const jobs = openQueue(env);
    const count = 2 * DEAD_AFTER_CHECKS;
    await jobs.queue.pause();
    for (let added = 0; added < count; added++) {
      const job = createJob();
      await jobs.queue.add('create', job, { jobId: job.id });
      await jobs.redis.hset(jobs.queue.toKey(job.id), { ats: 10, stc: 10 });
    }
    await jobs.queue.resume();
    jest.spyOn(JobWorker.prototype, 'countWaiting').mockResolvedValue(1);
    let done: (created: unknown) => void = () => undefined;
    const createMany = jest.fn(() => new Promise((resolve) => (done = resolve)));
    const processor = new CreateItemProcessor(
      { createMany } as unknown as ItemCreator,
      {} as ReplyPublisher,
      { shouldDefer: () => false, pauseWhile: (work: unknown) => work } as unknown as SearchIndexer,
      pino({ level: 'silent' }),
    );
    const consumer = new CreateItemConsumer(
      redis,
      { concurrency: count, queuePrefix },
      processor,
      { responds: () => Promise.resolve(true) } as unknown as Database,
      pino({ level: 'silent' }),
      new BatchMetrics(new Registry()),
    );
    const onDead = jest.fn();
    jest.useFakeTimers({ doNotFake: [...CLOCK, ...TIMERS] });
    consumer.start(onDead);
    for (let tried = 1; tried <= count; tried++) {
      await eventually(() => {
        expect(createMany).toHaveBeenCalledTimes(tried);
      });
      jest.advanceTimersByTime(CHECK_EVERY_MS);
      await nextTurn();
      done(new Map());
    }
    jest.useRealTimers();
    await consumer.stop(CHECK_EVERY_MS);
    redis.disconnect();
    await jobs.queue.obliterate({ force: true });
    await jobs.close();
    expect(onDead).not.toHaveBeenCalled();
  });
});
