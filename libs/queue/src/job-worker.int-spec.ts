import { Queue, UnrecoverableError, WaitingError, type Job } from 'bullmq';
import { pino } from 'pino';
import { eventually } from '../../../test/support/eventually.js';
import { ownRedis, readyRedis, removeOwnDatabases } from '../../../test/support/own-databases.js';
import type { BatchOutcomes } from './batch-worker.js';
import { JobWorker } from './job-worker.js';
import { CREATE_JOB_OPTIONS, keyPrefix, WORKER_OPTIONS } from './queue-settings.js';
import { connectRedis, type RedisConnection } from './redis.js';

const CONCURRENCY = 4;

jest.setTimeout(30_000);

describe('a worker that takes jobs in batches', () => {
  let redis: RedisConnection;
  let queue: Queue;
  let worker: JobWorker;
  let batches: string[][];
  let work: (jobs: readonly Job[]) => Promise<BatchOutcomes>;
  let run = 0;

  beforeAll(async () => {
    const server = await ownRedis();
    await readyRedis(server);
    redis = connectRedis(server.url, 'worker', () => undefined);
  });
  beforeEach(() => {
    const name = `jobs-${String(run++)}`;
    queue = new Queue(name, { connection: redis, prefix: keyPrefix('test') });
    batches = [];
    work = () => Promise.resolve([]);
    const source = { redis, queue: name, queuePrefix: 'test', ...WORKER_OPTIONS, concurrency: CONCURRENCY };
    const take = (jobs: readonly Job[]): Promise<BatchOutcomes> => {
      batches.push(jobs.map((job) => job.name));
      return work(jobs);
    };
    worker = new JobWorker(source, take, pino({ level: 'silent' }));
  });
  afterEach(async () => {
    await worker.close();
    await queue.close();
  });
  afterAll(async () => {
    redis.disconnect();
    await removeOwnDatabases();
  });

  const add = async (...names: string[]): Promise<void> => {
    for (const name of names) await queue.add(name, {}, { attempts: 3, backoff: 10 });
  };
  const expectCounts = (counts: Record<string, number>): Promise<void> =>
    eventually(async () => {
      expect(await queue.getJobCounts()).toMatchObject(counts);
    });

  /** Starts the worker, which then has the job in hand until it is told that its batch is done. */
  const beginWith = async (name: string): Promise<() => void> => {
    let done = (): void => undefined;
    work = () =>
      new Promise((resolve) => {
        done = () => {
          resolve([]);
        };
      });
    worker.start();
    await add(name);
    await eventually(() => {
      expect(batches).toEqual([[name]]);
    });
    return () => {
      done();
    };
  };

  it('takes what waits together, up to its concurrency, in the order in which it was added', async () => {
    await add('a', 'b', 'c', 'd', 'e', 'f');
    worker.start();
    await expectCounts({ completed: 6, active: 0, waiting: 0 });
    expect(batches).toEqual([
      ['a', 'b', 'c', 'd'],
      ['e', 'f'],
    ]);
  });

  it('waits for the first job, and takes along what comes while a batch is worked on', async () => {
    const done = await beginWith('a');
    await add('b', 'c');
    done();
    await eventually(() => {
      expect(batches).toEqual([['a'], ['b', 'c']]);
    });
    done();
    await expectCounts({ completed: 3 });
  });

  it('ends each job with its own outcome', async () => {
    work = (jobs) =>
      Promise.all(
        jobs.map(async (job) => {
          if (job.name === 'bad') return new UnrecoverableError('it is bad');
          if (job.name === 'unlucky' && job.attemptsMade === 0) return new Error('try again');
          if (job.name !== 'back' || job.attemptsStarted > 1) return undefined;
          await job.moveToWait(job.token);
          return new WaitingError();
        }),
      );
    await add('good', 'bad', 'unlucky', 'back');
    worker.start();
    await expectCounts({ completed: 3, failed: 1, active: 0 });
    const [failed] = await queue.getFailed();
    expect(failed).toMatchObject({ name: 'bad', failedReason: 'it is bad', attemptsMade: 1 });
    expect(batches.flat().sort()).toEqual(['back', 'back', 'bad', 'good', 'unlucky', 'unlucky']);
  });

  it('lets all of a batch be tried again that throws', async () => {
    work = () => (batches.length === 1 ? Promise.reject(new Error('all of them')) : Promise.resolve([]));
    await add('a', 'b');
    worker.start();
    await expectCounts({ completed: 2, failed: 0 });
    expect(batches[0]).toEqual(['a', 'b']);
  });

  it('takes none while it rests, and takes them again', async () => {
    let isOver = false;
    worker.start();
    void worker.rest('for a while', () => Promise.resolve(isOver));
    expect(worker.idleReason).toBe('for a while');
    // The one that it was waiting for when it began to rest may still be taken.
    await add('a', 'b', 'c');
    await eventually(async () => {
      expect((await queue.getWaitingCount()) + batches.flat().length).toBe(3);
      expect(await queue.getWaitingCount()).toBeGreaterThanOrEqual(2);
    });
    isOver = true;
    await expectCounts({ completed: 3 });
    expect(worker.idleReason).toBeUndefined();
  });

  it('holds on to what it has done until Redis takes its end', async () => {
    work = async () => {
      await redis.config('SET', 'min-replicas-to-write', '1');
      return [];
    };
    await add('a', 'b');
    worker.start();
    await eventually(() => {
      expect(worker.idleReason).toBe('Redis refuses commands');
    });
    work = () => Promise.resolve([]);
    await redis.config('SET', 'min-replicas-to-write', '0');
    await expectCounts({ completed: 2, active: 0 });
    expect(batches).toEqual([['a', 'b']]);
  });

  it('finishes the batch in hand when it is closed, and takes no more', async () => {
    const done = await beginWith('a');
    await add('b');
    const closed = worker.close();
    done();
    await closed;
    expect(await queue.getJobCounts()).toMatchObject({ completed: 1, waiting: 1, active: 0 });
  });

  it('removes what a burst has left behind a few at a time', async () => {
    const create = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n++) await queue.add('create', {}, CREATE_JOB_OPTIONS);
    };
    const completed = queue.toKey('completed');
    worker.start();
    await create(20);
    await expectCounts({ completed: 20 });
    for (const id of await redis.zrange(completed, 0, -1)) await redis.zadd(completed, Date.now() - 600_000, id);
    await create(1);
    await expectCounts({ completed: 20 - 3 + 1 });
    await create(10);
    await expectCounts({ completed: 11 });
  });
});
