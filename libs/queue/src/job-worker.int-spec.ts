import { setTimeout as delay } from 'node:timers/promises';
import { Job, Queue, UnrecoverableError, Worker } from 'bullmq';
import { pino } from 'pino';
import { eventually } from '../../../test/support/eventually.js';
import { createRedis, startRedis, removeDatabaseServers } from '../../../test/support/database-servers.js';
import { JobWorker, type JobOutcome } from './job-worker.js';
import { CREATE_JOB_OPTIONS, keyPrefix, LOCK_MS, MAX_FAILED_JOBS } from './queue-settings.js';
import { connectRedis, type RedisConnection } from './redis.js';

const CONCURRENCY = 4;
const GRACE_MS = 5000;
/** Longer than a worker needs to try to take a second job, also on a busy machine. */
const LIMITED_MS = 5000;
/** Far more often than a worker looks for a job while the rate limit is reached, unless it looks without a pause. */
const MANY_LOOKS = 100;
/** How long an idle worker waits before it looks for jobs again, unless it is woken: longer than the test. */
const LONG_WAIT_S = 60;
/** Longer than a lock and two checks for stalled jobs. */
const TAKEN_OVER_MS = 60_000;

describe('JobWorker', () => {
  let redis: RedisConnection;
  let queue: Queue;
  let worker: JobWorker;
  let newWorker: (options?: { concurrency: number }) => JobWorker;
  let batches: string[][];
  let failures: string[];
  let log: string[];
  let errors: unknown[];
  let work: (jobs: readonly Job[]) => Promise<readonly JobOutcome[]>;
  let run = 0;

  beforeAll(async () => {
    const server = await createRedis();
    await startRedis(server);
    redis = connectRedis(server.url, 'worker', () => undefined);
  });
  beforeEach(() => {
    const name = `jobs-${String(run++)}`;
    queue = new Queue(name, { connection: redis, prefix: keyPrefix('test') });
    batches = [];
    work = () => Promise.resolve([]);
    failures = [];
    log = [];
    errors = [];
    const process = (jobs: readonly Job[]): Promise<readonly JobOutcome[]> => {
      batches.push(jobs.map((job) => job.name));
      return work(jobs);
    };
    const onFailed = (job: Job, error: Error): void => {
      failures.push(`${job.name}: ${error.message}`);
    };
    const source = { redis, queue: name, queuePrefix: 'test', concurrency: CONCURRENCY };
    const write = (line: string): void => {
      const { msg, err } = JSON.parse(line) as { msg: string; err?: unknown };
      log.push(msg);
      if (err !== undefined) errors.push(err);
    };
    const logger = pino({}, { write });
    newWorker = (options) => new JobWorker({ ...source, ...options }, { process, onFailed }, logger);
    worker = newWorker();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await worker.close(GRACE_MS);
    await queue.close();
  });
  afterAll(async () => {
    redis.disconnect();
    await removeDatabaseServers();
  });

  const add = async (...names: string[]): Promise<void> => {
    for (const name of names) await queue.add(name, {}, { attempts: 3, backoff: 10 });
  };
  const expectCounts = (counts: Record<string, number>): Promise<void> =>
    eventually(async () => {
      expect(await queue.getJobCounts()).toMatchObject(counts);
    });
  /** Waits, because Redis counts a failed job before the worker reports it. */
  const expectFailures = (...expected: string[]): Promise<void> =>
    eventually(() => {
      expect(failures).toEqual(expected);
    });

  /** Starts the worker with one job, which stays active until the returned function is called. */
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

  it.each([
    ['is not JSON', 'data', 'not JSON', 'The job is not JSON'],
    ['is nested too deeply', 'data', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, 'The job cannot be read'],
    ['has null instead of options', 'opts', 'null', 'The job cannot be read'],
  ])(
    'a job worker fails a job that %s when it first takes it, while idle or by completing another job',
    async (...unreadable) => {
      const [, field, text, reason] = unreadable;
      const addUnreadable = async (): Promise<void> => {
        const { id = '' } = await queue.add('create', {}, { attempts: 3 });
        await redis.hset(queue.toKey(id), field, text);
      };
      const complete = await beginWith('first');
      await addUnreadable();
      complete();
      await expectCounts({ completed: 1, failed: 1 });
      await queue.pause();
      await addUnreadable();
      await queue.resume();
      await expectCounts({ completed: 1, failed: 2, active: 0 });
      await expectFailures(`unreadable: ${reason}`, `unreadable: ${reason}`);
      // Started once: no job was released by the end of its lock.
      for (const id of await redis.zrange(queue.toKey('failed'), 0, -1))
        expect(await redis.hgetall(queue.toKey(id))).toMatchObject({ [field]: text, ats: '1' });
    },
  );

  it.each([
    ['null instead of options for its removal', { removeOnComplete: null, removeOnFail: null }],
    ['an unknown backoff strategy', { attempts: 2, backoff: { type: 'of another program' } }],
  ])('a job worker completes or fails a job with %s', async (_what, options) => {
    const outcomeOf = ({ name }: Job): JobOutcome =>
      name === 'bad' ? { kind: 'failed', error: new Error('it is bad') } : { kind: 'done' };
    work = (jobs) => Promise.resolve(jobs.map(outcomeOf));
    await queue.pause();
    for (const name of ['good', 'bad']) {
      const { id = '' } = await queue.add(name, {});
      await redis.hset(queue.toKey(id), 'opts', JSON.stringify(options));
    }
    await queue.resume();
    worker.start();
    await expectCounts({ completed: 1, failed: 1, active: 0 });
    await expectFailures('bad: it is bad');
  });

  it('a job worker takes waiting jobs together, up to its concurrency, in the order in which they were added', async () => {
    await add('a', 'b', 'c', 'd', 'e', 'f');
    worker.start();
    await expectCounts({ completed: 6, active: 0, waiting: 0 });
    expect(batches).toEqual([
      ['a', 'b', 'c', 'd'],
      ['e', 'f'],
    ]);
  });

  it('a job worker takes at most 32 jobs with priorities together', async () => {
    const addMany = (count: number, priority: number): Promise<unknown> =>
      queue.addBulk(Array.from({ length: count }, () => ({ name: 'create', data: {}, opts: { priority } })));
    const sizesAfter = async (completed: number): Promise<number[]> => {
      const larger = newWorker({ concurrency: 64 });
      batches = [];
      larger.start();
      await expectCounts({ completed });
      await larger.close(GRACE_MS);
      return batches.map(({ length }) => length);
    };
    await addMany(40, 1);
    expect(await sizesAfter(40)).toEqual([32, 8]);
    await addMany(64, 0);
    await addMany(104, 1);
    // Completing the jobs without priorities fetches as many.
    expect(await sizesAfter(208)).toEqual([64, 64, 32, 8]);
  });

  it('a job worker waits for the first job, and puts jobs that arrive during a batch into the next batch', async () => {
    const done = await beginWith('a');
    await add('b', 'c');
    done();
    await eventually(() => {
      expect(batches).toEqual([['a'], ['b', 'c']]);
    });
    done();
    await expectCounts({ completed: 3 });
  });

  it('a job worker finishes each job with its own outcome', async () => {
    const outcomeOf = ({ name, attemptsMade, attemptsStarted }: Job): JobOutcome => {
      if (name === 'bad') return { kind: 'failed', error: new UnrecoverableError('it is bad') };
      if (name === 'unlucky' && attemptsMade === 0) return { kind: 'failed', error: new Error('try again') };
      if (name === 'back' && attemptsStarted === 1) return { kind: 'wait' };
      return name === 'later' && attemptsStarted === 1 ? { kind: 'delay', ms: 50 } : { kind: 'done' };
    };
    work = (jobs) => Promise.resolve(jobs.map(outcomeOf));
    await add('good', 'bad', 'unlucky', 'back', 'later');
    worker.start();
    await expectCounts({ completed: 4, failed: 1, active: 0 });
    const [failed] = await queue.getFailed();
    expect(failed).toMatchObject({ name: 'bad', failedReason: 'it is bad', attemptsMade: 1 });
    expect(batches.flat().sort()).toEqual(['back', 'back', 'bad', 'good', 'later', 'later', 'unlucky', 'unlucky']);
    await expectFailures('bad: it is bad');
  });

  it('a job worker retries all jobs of a batch that throws', async () => {
    work = () => (batches.length === 1 ? Promise.reject(new Error('all of them')) : Promise.resolve([]));
    await add('a', 'b');
    worker.start();
    await expectCounts({ completed: 2, failed: 0 });
    expect(batches[0]).toEqual(['a', 'b']);
  });

  it('a job worker takes no jobs while it is paused, and takes them again afterwards', async () => {
    let isOver = false;
    worker.start();
    worker.pauseUntil('for a while', () => Promise.resolve(isOver));
    expect(worker.idleReason).toBe('for a while');
    // The worker may still take the job that it was waiting for when it was paused.
    await add('a', 'b', 'c');
    await eventually(async () => {
      expect((await queue.getWaitingCount()) + batches.flat().length).toBe(3);
      expect(await queue.getWaitingCount()).toBeGreaterThanOrEqual(2);
    });
    isOver = true;
    await expectCounts({ completed: 3 });
    expect(worker.idleReason).toBeUndefined();
    expect(log).toEqual(['taking no jobs', 'taking jobs again']);
  });

  it('a job worker waits for a moment before it takes a job again that it has given back, even if the reason is over at once', async () => {
    const takenAt: number[] = [];
    work = (jobs) => {
      takenAt.push(performance.now());
      if (takenAt.length > 1) return Promise.resolve([]);
      worker.pauseUntil('for no time', () => Promise.resolve(true));
      return Promise.resolve(jobs.map(() => ({ kind: 'wait' })));
    };
    await add('a');
    worker.start();
    await expectCounts({ completed: 1 });
    const [first = 0, second = 0] = takenAt;
    expect(second - first).toBeGreaterThan(200);
  });

  it('a job worker logs that it takes no jobs, but not that it takes them again, while Redis refuses commands', async () => {
    await add('a');
    await redis.call('ACL', 'SETUSER', 'default', '-evalsha');
    try {
      worker.start();
      await eventually(() => {
        expect(worker.idleReason).toBe('Redis refuses commands');
      });
    } finally {
      await redis.call('ACL', 'SETUSER', 'default', '+evalsha');
    }
    // By then, the pause is over.
    await expectCounts({ completed: 1 });
    expect(log).toContain('taking no jobs');
    expect(log).not.toContain('taking jobs again');
  });

  it('a job worker takes jobs once Redis accepts the commands that it refused when the worker was created', async () => {
    await queue.waitUntilReady();
    await redis.call('ACL', 'SETUSER', 'default', '-info');
    const refused = newWorker();
    try {
      await add('a');
      refused.start();
      await eventually(() => {
        expect(refused.idleReason).toBe('Redis refuses commands');
      });
      await redis.call('ACL', 'SETUSER', 'default', '+info');
      await expectCounts({ completed: 1 });
    } finally {
      await redis.call('ACL', 'SETUSER', 'default', '+info');
      await refused.close(GRACE_MS);
    }
  });

  it('a job worker takes no jobs while the rate limit of the queue is reached, and leaves the event loop free', async () => {
    await queue.setGlobalRateLimit(1, LIMITED_MS);
    await add('a', 'b');
    const look = jest.spyOn(Worker.prototype, 'getNextJob');
    const pause = jest.spyOn(worker, 'pauseUntil');
    worker.start();
    await expectCounts({ completed: 2 });
    expect(look.mock.calls.length).toBeLessThan(MANY_LOOKS);
    expect(batches).toEqual([['a'], ['b']]);
    expect(pause).toHaveBeenCalledWith('the rate limit of the queue is reached', expect.anything());
  });

  it('a job worker runs a job again if Redis refused to complete it, once Redis accepts commands again', async () => {
    work = async () => {
      await redis.config('SET', 'min-replicas-to-write', '1');
      return [];
    };
    await add('a', 'b');
    try {
      worker.start();
      await eventually(() => {
        expect(worker.idleReason).toBe('Redis refuses commands');
      });
    } finally {
      work = () => Promise.resolve([]);
      await redis.config('SET', 'min-replicas-to-write', '0');
    }
    await eventually(async () => {
      expect(await queue.getJobCounts()).toMatchObject({ completed: 2, active: 0 });
    }, TAKEN_OVER_MS);
    expect(batches.flat().sort()).toEqual(['a', 'a', 'b', 'b']);
  });

  it('a job worker finishes the current batch when it is closed, and takes no more jobs', async () => {
    const done = await beginWith('a');
    await add('b');
    const closed = worker.close(GRACE_MS);
    done();
    await closed;
    expect(await queue.getJobCounts()).toMatchObject({ completed: 1, waiting: 1, active: 0 });
  });

  it('a job worker gives a job with a priority back so that an idle worker takes it at once', async () => {
    let endFirst = (): void => undefined;
    work = () =>
      new Promise(
        (resolve) =>
          (endFirst = () => {
            resolve([]);
          }),
      );
    await queue.add('given back', {}, { priority: 7 });
    worker.start();
    await eventually(() => {
      expect(batches).toEqual([['given back']]);
    });
    work = () => Promise.resolve([]);
    const idle = newWorker();
    Object.assign((idle as unknown as { worker: Worker }).worker.opts, { drainDelay: LONG_WAIT_S });
    idle.start();
    await add('other');
    await expectCounts({ completed: 1 });
    await eventually(async () => {
      expect(await redis.client('LIST')).toMatch(/ flags=b .* cmd=bzpopmin /);
    });
    await worker.close(0);
    await eventually(() => {
      expect(batches.at(-1)).toEqual(['given back']);
    });
    endFirst();
    await idle.close(GRACE_MS);
  });

  it('a job worker splits waiting jobs into batches of limited size', async () => {
    const large = 'x'.repeat(3 * 1024 * 1024);
    for (const name of ['a', 'b', 'c']) await queue.add(name, { large });
    worker.start();
    await expectCounts({ completed: 3 });
    expect(batches).toEqual([['a', 'b'], ['c']]);
  });

  it('a job worker splits waiting jobs by their size as objects, not as JSON', async () => {
    const structures = Array.from({ length: 50_000 }, () => ({}));
    for (const name of ['a', 'b', 'c']) await queue.add(name, { structures });
    worker.start();
    await expectCounts({ completed: 3 });
    expect(batches).toEqual([['a', 'b'], ['c']]);
  });

  it('a job worker takes few more large jobs than fit into the next batch, also if those of this batch are small', async () => {
    const count = 100;
    const large = { structures: Array.from({ length: 20_000 }, () => ({})) };
    await queue.addBulk(Array.from({ length: count }, () => ({ name: 'small', data: {} })));
    await queue.addBulk(Array.from({ length: count }, () => ({ name: 'large', data: large })));
    const active: number[] = [];
    work = async () => {
      active.push(await queue.getActiveCount());
      return [];
    };
    const larger = newWorker({ concurrency: count });
    larger.start();
    await expectCounts({ completed: 2 * count, active: 0 });
    await larger.close(GRACE_MS);
    expect(active[0]).toBe(count);
    expect(Math.max(...active.slice(1))).toBeLessThan(count / 2);
  });

  it('a job worker keeps no job while it is paused, also if it completed others before', async () => {
    const large = 'x'.repeat(3 * 1024 * 1024);
    for (const name of ['a', 'b', 'c']) await queue.add(name, { large });
    await add('d', 'e');
    let isOver = false;
    work = (jobs) => {
      if (batches.length === 1 || isOver) return Promise.resolve([]);
      worker.pauseUntil('for a while', () => Promise.resolve(isOver));
      return Promise.resolve(jobs.map(() => ({ kind: 'wait' })));
    };
    worker.start();
    await eventually(() => {
      expect(worker.idleReason).toBe('for a while');
    });
    // The last of the large jobs was given back.
    await expectCounts({ completed: 2, waiting: 3, active: 0 });
    isOver = true;
    await expectCounts({ completed: 5 });
  });

  it('a job worker renews the locks of active jobs, so that no other worker takes them', async () => {
    const done = await beginWith('a');
    const [job] = await queue.getActive();
    const lock = `${queue.toKey(job?.id ?? '')}:lock`;
    await redis.pexpire(lock, 60_000);
    const renew = jest.spyOn(Job.prototype, 'extendLock');
    await delay(LOCK_MS - 1000);
    expect(renew).toHaveBeenCalled();
    await eventually(async () => {
      const ttl = await redis.pttl(lock);
      expect(ttl).toBeGreaterThan(0);
      expect(ttl).toBeLessThanOrEqual(LOCK_MS);
    });
    done();
    await expectCounts({ completed: 1, active: 0 });
    expect(batches).toEqual([['a']]);
  });

  it('a job worker continues with other jobs if BullMQ refuses to complete one, and takes that one over later', async () => {
    const done = await beginWith('a');
    const [job] = await queue.getActive();
    await redis.set(`${queue.toKey(job?.id ?? '')}:lock`, "another worker's");
    done();
    work = () => Promise.resolve([]);
    await add('b', 'c');
    await expectCounts({ completed: 2, active: 1 });
    expect(errors).toEqual([
      expect.objectContaining({
        message: expect.stringContaining('Lock') as string,
        stack: expect.any(String) as string,
      }),
    ]);
    await redis.del(`${queue.toKey(job?.id ?? '')}:lock`);
    await eventually(async () => {
      expect(await queue.getJobCounts()).toMatchObject({ completed: 3, active: 0 });
    }, TAKEN_OVER_MS);
  });

  it('the queue keeps a limited number of failed creates', async () => {
    work = (batch) =>
      Promise.resolve(batch.map(() => ({ kind: 'failed', error: new UnrecoverableError('a bug in validation') })));
    worker.start();
    const count = MAX_FAILED_JOBS + 50;
    await queue.addBulk(Array.from({ length: count }, () => ({ name: 'create', data: {}, opts: CREATE_JOB_OPTIONS })));
    await eventually(() => {
      expect(failures).toHaveLength(count);
    }, 100_000);
    await expectCounts({ failed: MAX_FAILED_JOBS, active: 0, waiting: 0 });
  });

  it('a failed create keeps the errors of its last attempts only, however often it is retried', async () => {
    const { attempts } = CREATE_JOB_OPTIONS;
    work = (batch) => Promise.resolve(batch.map(() => ({ kind: 'failed', error: new Error(String(batches.length)) })));
    worker.start();
    const { id = '' } = await queue.add('create', {}, { ...CREATE_JOB_OPTIONS, backoff: 0 });
    for (let times = 1; times <= 3; times++) {
      await eventually(() => {
        expect(failures).toHaveLength(times);
      });
      if (times < 3) await (await queue.getJob(id))?.retry('failed', { resetAttemptsMade: true });
    }
    const job = await queue.getJob(id);
    const messages = job?.stacktrace?.map((stack) => stack.split('\n')[0]);
    expect(messages).toEqual(
      Array.from({ length: attempts }, (_, index) => `Error: ${String(2 * attempts + index + 1)}`),
    );
  });

  it('completed creates leave no data in Redis', async () => {
    worker.start();
    for (let n = 0; n < 20; n++) await queue.add('create', {}, CREATE_JOB_OPTIONS);
    await eventually(() => {
      expect(batches.flat()).toHaveLength(20);
    });
    await expectCounts({ completed: 0, active: 0, waiting: 0 });
  });
});
