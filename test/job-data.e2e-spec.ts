import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { CreateJob, CreateReply, ErrorBody, Item } from '@app/contracts';
import { newMongoId, SchemaRepository, type Database } from '@app/database';
import { connectRedis, CREATE_JOB_OPTIONS, ReplySubscriber } from '@app/queue';
import type { ApiClient } from './support/api-client.js';
import { freshEnvironment, openDatabase } from './support/environment.js';
import { eventually } from './support/eventually.js';
import { uniqueWord, validInput } from './support/items.js';
import { createRedis, startRedis, removeDatabaseServers, type DatabaseServer } from './support/database-servers.js';
import { endProcesses, ServiceProcess } from './support/processes.js';
import { createJob, openQueue, type OpenQueue } from './support/queue.js';

const SUSPENDED = join(__dirname, 'support', 'suspended.cjs');
/** Creates that wait for more than 500 ms are looked up every 250 ms, which makes up for a lost reply. */
const RECOVERED_WITHIN_MS = 1500;
const NOT_JSON = 'not for the log';

describe('a job in the create queue', () => {
  let redis: DatabaseServer;
  let env: NodeJS.ProcessEnv;
  let database: Database;
  let jobs: OpenQueue;
  let api: ServiceProcess;
  let worker: ServiceProcess;
  let client: ApiClient;
  let subscriber: ReplySubscriber;
  let replies: CreateReply[];

  beforeAll(async () => {
    redis = await createRedis();
    await startRedis(redis);
    env = freshEnvironment({ REDIS_URL: redis.url, CREATE_WAIT_MS: '60000', LOG_LEVEL: 'info' });
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    jobs = openQueue(env);
    api = ServiceProcess.start('api', env);
    worker = ServiceProcess.start('worker', env);
    await Promise.all([api.waitForStatus('ready'), worker.waitForStatus('ready')]);
    client = await api.client();
  });
  beforeEach(async () => {
    replies = [];
    subscriber = new ReplySubscriber(
      connectRedis(redis.url, 'subscriber', () => undefined),
      'test',
    );
    subscriber.listen((reply) => replies.push(reply));
    await eventually(async () => {
      const [, count] = await jobs.redis.pubsub('NUMSUB', subscriber.channel);
      if (count !== 1) throw new Error('not subscribed yet');
    });
  });
  afterEach(async () => {
    subscriber.close();
    await jobs.queue.resume();
    await jobs.queue.removeGlobalConcurrency();
    await jobs.redis.call('ACL', 'SETUSER', 'default', 'allchannels');
  });
  afterAll(async () => {
    await database.connection.dropDatabase();
    await Promise.all([database.close(), jobs.close()]);
    await removeDatabaseServers();
    await endProcesses();
  });

  const add = (id: string, data: unknown): Promise<unknown> =>
    jobs.queue.add('create', data, { ...CREATE_JOB_OPTIONS, jobId: id });

  const failed = async (id: string): Promise<Record<string, string>> => {
    await eventually(async () => {
      expect(await jobs.queue.getJobState(id)).toBe('failed');
    });
    return jobs.redis.hgetall(jobs.queue.toKey(id));
  };

  /** Waits until the item is stored and the job has left the queue. */
  const expectDone = async (id: string): Promise<void> => {
    await eventually(async () => {
      expect((await client.call('getById', { id })).status).toBe(200);
      expect(await jobs.queue.getJobState(id)).toBe('unknown');
    });
  };

  describe('that is not a create job', () => {
    it.each([
      ['nothing', {}, 'version: Invalid input'],
      ['null', null, 'Invalid input'],
      ['a text', 'garbage', 'Invalid input'],
      ['a version that is no number', { ...createJob(), version: '1' }, 'version: Invalid input'],
      ['the id of another job', createJob(), 'its id differs'],
      ['an item without a name', { ...createJob(), item: { description: 'x' } }, 'item.name: Invalid input'],
    ])(
      'a job that is not a create job ends up in failed, with the reason and its data: %s',
      async (_, data, reason) => {
        const id = newMongoId();
        await add(id, data);
        const { failedReason, data: kept = '' } = await failed(id);
        expect(failedReason).toMatch(new RegExp(`^Not a create job: ${reason}.*$`));
        expect(JSON.parse(kept)).toEqual(data);
      },
    );

    it('a job does not block other jobs and ends up in failed if its data is not JSON, which is not logged', async () => {
      await jobs.queue.pause();
      const unreadable = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const id = newMongoId();
          await add(id, {});
          await jobs.redis.hset(jobs.queue.toKey(id), 'data', NOT_JSON);
          return id;
        }),
      );
      const creating = client.create(validInput());
      await jobs.queue.resume();
      expect((await creating).status).toBe('available');
      for (const id of unreadable)
        expect(await failed(id)).toMatchObject({ failedReason: 'The job is not JSON', data: NOT_JSON });
      await eventually(() => {
        expect(worker.log).toContainEqual(
          expect.objectContaining({
            msg: 'create failed for good',
            err: expect.objectContaining({ message: 'The job is not JSON' }) as object,
          }),
        );
      });
      expect(JSON.stringify([...worker.log, ...api.log])).not.toContain(NOT_JSON);
    });
  });

  it('a job that fails because Redis has lost its data is done when the client sends its request again', async () => {
    await jobs.queue.pause();
    const input = validInput({ name: uniqueWord() });
    const send = (): Promise<{ status: number; body: Item }> =>
      client.call<Item>('create', input, { 'Idempotency-Key': String(input.name), Prefer: 'respond-async' });
    const { status, body } = await send();
    expect(status).toBe(202);
    await jobs.redis.del(jobs.queue.toKey(body.id));
    await jobs.queue.resume();
    expect((await failed(body.id))['data']).toBeUndefined();
    expect((await send()).status).toBe(202);
    await expectDone(body.id);
  });

  it('a job neither fails nor makes others fail if its traceparent is not a text', async () => {
    await jobs.queue.pause();
    const traced = createJob();
    const other = createJob();
    await add(traced.id, { ...traced, traceparent: { toString: 1, valueOf: 1 } });
    await add(other.id, other);
    await jobs.queue.resume();
    await expectDone(traced.id);
    await expectDone(other.id);
  });

  describe('of a version that the worker does not know', () => {
    it('a job of a version that the worker does not know is retried later, with its data unchanged and no attempt used up', async () => {
      const job = createJob();
      const data = { ...job, version: 99, item: 'in a way to come' };
      await add(job.id, data);
      await eventually(async () => {
        expect(await jobs.queue.getJobState(job.id)).toBe('delayed');
      });
      const kept = await jobs.queue.getJob(job.id);
      expect([kept?.data, kept?.attemptsMade, kept?.failedReason]).toEqual([data, 0, undefined]);
      await jobs.redis.hset(jobs.queue.toKey(job.id), 'data', JSON.stringify(job));
      await expectDone(job.id);
      expect(await database.models.items.countDocuments({ name: job.item.name })).toBe(1);
    });

    it('a job of a version that the worker does not know does not block other jobs', async () => {
      const waiting = Array.from({ length: 20 }, () => createJob());
      await Promise.all(waiting.map((job) => add(job.id, { ...job, version: 99 })));
      expect((await client.create(validInput())).status).toBe('available');
      await eventually(async () => {
        await Promise.all(waiting.map(({ id }) => jobs.queue.remove(id)));
        expect(await jobs.queue.getJobCountByTypes('waiting', 'active', 'delayed')).toBe(0);
      });
    });

    it('a job of a version that the worker does not know does not make others fail if it is retried and its id is not one of an item', async () => {
      await jobs.queue.pause();
      const { id = '' } = await jobs.queue.add('other', { version: 99 });
      await jobs.redis.hset(jobs.queue.toKey(id), 'ats', 1);
      const job = createJob();
      await jobs.queue.add('create', job, { ...CREATE_JOB_OPTIONS, attempts: 1, jobId: job.id });
      await jobs.queue.resume();
      await expectDone(job.id);
      await eventually(async () => {
        expect(await jobs.queue.remove(id)).toBe(1);
      });
    });
  });

  describe('during which workers have died', () => {
    /** Adds a job as it looks after ten stalls, with `deaths` workers lost while they did it alone. */
    const addStalled = async (job: CreateJob, deaths: number): Promise<void> => {
      await jobs.queue.pause();
      await add(job.id, job);
      await jobs.redis.hset(jobs.queue.toKey(job.id), { stc: 10, progress: deaths });
      await jobs.queue.resume();
    };

    it('a job ends up in failed, with the reason, if workers died while doing it alone', async () => {
      const job = createJob();
      await addStalled(job, 5);
      expect(await failed(job.id)).toMatchObject({ failedReason: 'Workers died of it again and again' });
      expect(await database.models.items.countDocuments({ name: job.item.name })).toBe(0);
    });

    it('a job during which workers have died is done if it succeeds in time, and counts no further death if MongoDB rejects it', async () => {
      const recovered = createJob();
      await addStalled(recovered, 4);
      await expectDone(recovered.id);
      const refused = createJob();
      const { db } = database.connection;
      await db?.command({ collMod: 'items', validator: { name: { $ne: refused.item.name } } });
      await addStalled(refused, 2);
      expect(await failed(refused.id)).toMatchObject({
        progress: '2',
        failedReason: expect.stringMatching(/validation/) as string,
      });
      await db?.command({ collMod: 'items', validator: {} });
    });

    it('a job during which workers have died is done if its item is already stored', async () => {
      const job = createJob();
      await add(job.id, job);
      await expectDone(job.id);
      await addStalled(job, 5);
      await expectDone(job.id);
    });
  });

  describe('that runs twice', () => {
    const expectOneItem = async (id: string, name: string): Promise<void> => {
      await eventually(() => {
        expect(replies).toHaveLength(2);
      });
      expect(replies[0]).toMatchObject({ id, outcome: { kind: 'created', item: { id, name } } });
      expect(replies[1]).toEqual(replies[0]);
      expect(await database.models.items.countDocuments({ name })).toBe(1);
    };

    it('a job stores one item and sends the same reply again when it is queued again', async () => {
      const job = createJob({ replyTo: subscriber.channel });
      await add(job.id, job);
      await expectDone(job.id);
      await add(job.id, job);
      await expectOneItem(job.id, job.item.name);
    });

    it('a job stores one item and sends the same reply twice when two workers run it at once', async () => {
      const other = { ...env, QUEUE_PREFIX: `test-${uniqueWord()}` };
      const otherJobs = openQueue(other);
      const otherWorker = ServiceProcess.start('worker', other);
      await otherWorker.waitForStatus('ready');
      for (let round = 0; round < 5; round++) {
        replies.length = 0;
        const job = createJob({ replyTo: subscriber.channel });
        await Promise.all([add(job.id, job), otherJobs.queue.add('create', job, { jobId: job.id })]);
        await expectOneItem(job.id, job.item.name);
      }
      expect(await otherWorker.end('SIGTERM')).toMatchObject({ code: 0 });
      await otherJobs.close();
    });

    it('a job derives nothing again when an earlier attempt has stored its item', async () => {
      const job = createJob({ replyTo: subscriber.channel });
      await add(job.id, job);
      await expectDone(job.id);
      await database.models.items.updateOne({ name: job.item.name }, { $set: { price: 7 } });
      await jobs.queue.pause();
      await add(job.id, job);
      await jobs.redis.hset(jobs.queue.toKey(job.id), 'ats', 1);
      const { value: numbers } = await database.models.counters.findOne({ _id: 'item.publicId' }).orFail();
      await jobs.queue.resume();
      await eventually(() => {
        expect(replies).toHaveLength(2);
      });
      expect(replies[1]).toMatchObject({ id: job.id, outcome: { kind: 'created', item: { price: 7 } } });
      expect(await database.models.counters.findOne({ _id: 'item.publicId' }).orFail()).toMatchObject({
        value: numbers,
      });
    });
  });

  describe('whose reply is lost', () => {
    it('a create whose reply is lost completes late, because its item is found in MongoDB', async () => {
      await forbidReplies();
      const id = await eventually(async () => {
        const since = Date.now();
        const created = await client.create(validInput());
        expect(Date.now() - since).toBeLessThan(RECOVERED_WITHIN_MS);
        return created.id;
      });
      expect((await client.call<Item>('getById', { id })).status).toBe(200);
    });

    it.each([
      ['is null', () => null],
      ['has no outcome', ({ id }: CreateJob) => ({ id, outcome: null })],
      ['is of an unknown kind', reply({ kind: 'later' })],
      ['has no hash', reply({ kind: 'created', requestHash: undefined })],
      ['has no item', reply({ kind: 'created', item: undefined })],
      ['has null instead of an item', reply({ kind: 'created', item: null })],
      ['has another item', reply({ kind: 'created', item: { id: newMongoId() } })],
    ])('a create ignores a reply that %s', async (_what, replyTo) => {
      await jobs.queue.pause();
      const creating = client.call<Item>('create', validInput());
      const [job] = await eventually(async () => {
        const waiting = await jobs.queue.getWaiting();
        expect(waiting).toHaveLength(1);
        return waiting;
      });
      const data = job?.data as CreateJob;
      await jobs.redis.publish(data.replyTo, JSON.stringify([replyTo(data)]));
      await jobs.queue.resume();
      const { status, body } = await creating;
      expect([status, body.id]).toEqual([200, data.id]);
    });

    it('a lost reply does not delay later creates, because the API subscribes again after its connection is cut', async () => {
      const replied = async (): Promise<number> =>
        Number(/^item_listing_create_waits_total\{end="reply"\} (\d+)$/m.exec(await api.metrics())?.[1]);
      for (let round = 0; round < 3; round++) {
        await jobs.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
        await eventually(async () => {
          const before = await replied();
          await client.create(validInput());
          expect(await replied()).toBe(before + 1);
        });
      }
    });
  });

  describe('that fails permanently', () => {
    beforeAll(async () => {
      await database.connection.db?.command({ collMod: 'items', validator: { name: { $ne: 'Refused' } } });
    });

    it.each(['heard', 'lost'])(
      'a job that fails permanently results in a 500 and stays in failed after its last attempt, with a reply that is %s',
      async (reply) => {
        if (reply === 'lost') await forbidReplies();
        await jobs.queue.pause();
        const creating = client.call<ErrorBody>('create', validInput({ name: 'Refused' }), { 'X-Request-Id': reply });
        const [job] = await eventually(async () => {
          const waiting = await jobs.queue.getWaiting();
          expect(waiting).toHaveLength(1);
          return waiting;
        });
        const id = job?.id ?? '';
        await jobs.redis.hset(jobs.queue.toKey(id), 'atm', 9);
        await jobs.queue.resume();

        const { status, body } = await creating;
        expect([status, body.code, body.data]).toEqual([500, 'INTERNAL_SERVER_ERROR', undefined]);
        expect(await failed(id)).toMatchObject({ failedReason: 'Document failed validation' });
        await eventually(() => {
          expect(worker.log).toContainEqual(
            expect.objectContaining({
              msg: 'create failed for good',
              requestId: reply,
              id,
              err: expect.objectContaining({ message: 'Document failed validation' }) as object,
            }),
          );
        });
      },
    );

    it('a job that fails permanently is reported to the API that waits for it', async () => {
      const job = createJob({ replyTo: subscriber.channel });
      job.item.name = 'Refused';
      await jobs.queue.add('create', job, { ...CREATE_JOB_OPTIONS, attempts: 1, jobId: job.id });
      await eventually(() => {
        expect(replies).toEqual([{ id: job.id, outcome: { kind: 'failed' } }]);
      });
    });

    it('a job is retried several times before it fails permanently', async () => {
      const job = createJob();
      job.item.name = 'Refused';
      await add(job.id, job);
      const { atm: attempts } = await failed(job.id);
      expect(Number(attempts)).toBeGreaterThan(1);
    });
  });

  it("a job carries the id of its request into the worker's log", async () => {
    const { body } = await client.call<Item>('create', validInput(), { 'X-Request-Id': 'shop-4711' });
    const { id, publicId } = body;
    await eventually(() => {
      expect(worker.log).toContainEqual(
        expect.objectContaining({ msg: 'items stored', items: [{ requestId: 'shop-4711', id, publicId }] }),
      );
    });
  });

  it('a job makes the worker not ready if it is not taken', async () => {
    // An earlier test has paused the queue, and the worker looks every two seconds.
    await worker.waitForStatus('ready');
    await jobs.queue.setGlobalConcurrency(0);
    await add(newMongoId(), {});
    await expectIdle(worker, 'jobs wait and none is done');
    await jobs.queue.removeGlobalConcurrency();
    await worker.waitForStatus('ready');
  });

  it('a job makes the worker not ready, but not stuck, while the queue is paused', async () => {
    await jobs.queue.pause();
    await add(newMongoId(), {});
    await expectIdle(worker, 'the queue is paused');
    await jobs.queue.resume();
    await worker.waitForStatus('ready');
  });

  it('a job does not make a worker exit that was suspended while the job waited', async () => {
    const suspended = ServiceProcess.start('worker', { ...env, NODE_OPTIONS: `--require ${SUSPENDED}` });
    await suspended.waitForStatus('ready');
    await jobs.queue.setGlobalConcurrency(0);
    await add(newMongoId(), {});
    await expectIdle(suspended, 'jobs wait and none is done');
    suspended.signal('SIGUSR2');
    await suspended.waitForLog('suspended');
    // By then, the worker has checked its progress again.
    await delay(3000);
    await jobs.queue.removeGlobalConcurrency();
    await suspended.waitForStatus('ready');
    expect(suspended.log.map(({ msg }) => msg)).not.toContainEqual(expect.stringContaining('exiting'));
    await suspended.end('SIGTERM');
  });

  /** Waits until a worker is not ready for this reason only. */
  async function expectIdle(process: ServiceProcess, consumer: string): Promise<void> {
    await eventually(async () => {
      const { status, parts } = await process.ready();
      expect([status, parts]).toEqual(['not ready', { mongodb: 'ok', redis: 'ok', consumer }]);
    });
  }

  /** Returns a reply to a job that differs from one of a worker only in what is given. */
  function reply(changes: object): (job: CreateJob) => unknown {
    return ({ id, requestHash, item }) => ({
      id,
      outcome: { requestHash, item: { ...item, id, path: '/x' }, ...changes },
    });
  }

  /** Makes Redis reject messages on every channel from now on. */
  async function forbidReplies(): Promise<void> {
    await jobs.redis.call('ACL', 'SETUSER', 'default', 'resetchannels');
  }
});
