import type { CreateJob, CreateReply, ErrorBody, Item } from '@app/contracts';
import { newMongoId, SchemaRepository, type Database } from '@app/database';
import { connectRedis, CREATE_JOB_OPTIONS, ReplySubscriber } from '@app/queue';
import type { ApiClient } from './support/api-client.js';
import { eventually } from './support/eventually.js';
import { uniqueWord, validInput } from './support/items.js';
import { ownRedis, readyRedis, removeOwnDatabases, type OwnDatabase } from './support/own-databases.js';
import { endProcesses, ServiceProcess } from './support/processes.js';
import { openQueue, type OpenQueue } from './support/queue.js';
import { freshEnvironment, openDatabase } from './support/service.js';

/** A lost reply is made up for by looking every quarter of a second for what is half a second late. */
const MADE_UP_FOR_MS = 1500;
/** A job that was taken and cannot be read is let go when its lock has expired. */
const STALLED_AGAIN_MS = 15_000;

jest.setTimeout(30_000);

describe('a job of the queue of creates', () => {
  let redis: OwnDatabase;
  let env: NodeJS.ProcessEnv;
  let database: Database;
  let jobs: OpenQueue;
  let api: ServiceProcess;
  let worker: ServiceProcess;
  let client: ApiClient;
  let subscriber: ReplySubscriber;
  let replies: CreateReply[];

  beforeAll(async () => {
    redis = await ownRedis();
    await readyRedis(redis);
    env = freshEnvironment({ REDIS_URL: redis.url, LOG_LEVEL: 'info' });
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    jobs = openQueue(env);
    api = ServiceProcess.start('api', env);
    worker = ServiceProcess.start('worker', env);
    await Promise.all([api.becomes('ready'), worker.becomes('ready')]);
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
    await jobs.redis.call('ACL', 'SETUSER', 'default', 'allchannels');
  });
  afterAll(async () => {
    await database.connection.dropDatabase();
    await Promise.all([database.close(), jobs.close()]);
    await removeOwnDatabases();
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

  /** Waits until the item is stored and the job is gone. */
  const expectDone = async (id: string): Promise<void> => {
    await eventually(async () => {
      expect((await client.call('getById', { id })).status).toBe(200);
      expect(await jobs.queue.getJobState(id)).toBe('unknown');
    });
  };

  describe('that is no create job', () => {
    it.each([
      ['nothing', {}],
      ['null', null],
      ['a text', 'garbage'],
      ['a version that is no number', { ...createJob(), version: '1' }],
      ['the id of another job', createJob()],
      ['an item without a name', { ...createJob(), item: { description: 'x' } }],
    ])('ends in failed, with the reason and its data: %s', async (_what, data) => {
      const id = newMongoId();
      await add(id, data);
      const { failedReason, data: kept = '' } = await failed(id);
      expect(failedReason).toMatch(/^Not a create job: /);
      expect(JSON.parse(kept)).toEqual(data);
    });

    it('holds up no other, also when its data is not even JSON', async () => {
      await jobs.queue.pause();
      const spoiled = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const id = newMongoId();
          await add(id, {});
          await jobs.redis.hset(jobs.queue.toKey(id), 'data', '{"version":1,');
          return id;
        }),
      );
      const creating = client.create(validInput());
      await jobs.queue.resume();
      expect((await creating).status).toBe('available');
      for (const id of spoiled) expect(await jobs.queue.getJobState(id)).toMatch(/^(waiting|active)$/);
      await eventually(async () => {
        await Promise.all(spoiled.map((id) => jobs.queue.remove(id)));
        expect(await jobs.queue.getJobCountByTypes('wait', 'active')).toBe(0);
      }, STALLED_AGAIN_MS);
    });
  });

  describe('of a version that this worker does not know', () => {
    it('is tried again later, its data unchanged and none of its tries used up', async () => {
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

    it('holds up no other', async () => {
      const waiting = Array.from({ length: 20 }, () => createJob());
      await Promise.all(waiting.map((job) => add(job.id, { ...job, version: 99 })));
      expect((await client.create(validInput())).status).toBe('available');
      await eventually(async () => {
        await Promise.all(waiting.map(({ id }) => jobs.queue.remove(id)));
        expect(await jobs.queue.getDelayedCount()).toBe(0);
      });
    });
  });

  describe('in whose midst workers have died', () => {
    /** Adds it as it is after so many stalls, with so many workers lost that did it alone. */
    const addStalled = async (job: CreateJob, deaths: number): Promise<void> => {
      await jobs.queue.pause();
      await add(job.id, job);
      await jobs.redis.hset(jobs.queue.toKey(job.id), { stc: 10, progress: deaths });
      await jobs.queue.resume();
    };

    it('ends in failed, with the reason and its data, when they have died of it alone', async () => {
      const job = createJob();
      await addStalled(job, 5);
      expect(await failed(job.id)).toMatchObject({ failedReason: 'Workers died of it again and again' });
      expect(await database.models.items.countDocuments({ name: job.item.name })).toBe(0);
    });

    it('is done when it was only beside them, and leaves no count behind when MongoDB refuses it', async () => {
      const beside = createJob();
      await addStalled(beside, 4);
      await expectDone(beside.id);
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

    it('is done when its item is there', async () => {
      const job = createJob();
      await add(job.id, job);
      await expectDone(job.id);
      await addStalled(job, 5);
      await expectDone(job.id);
    });
  });

  describe('that is done twice', () => {
    const expectOneItem = async (id: string, name: string): Promise<void> => {
      await eventually(() => {
        expect(replies).toHaveLength(2);
      });
      expect(replies[0]).toMatchObject({ id, outcome: { kind: 'created', item: { id, name } } });
      expect(replies[1]).toEqual(replies[0]);
      expect(await database.models.items.countDocuments({ name })).toBe(1);
    };

    it('stores one item, and says the same again: it was queued once more', async () => {
      const job = createJob({ replyTo: subscriber.channel });
      await add(job.id, job);
      await expectDone(job.id);
      await add(job.id, job);
      await expectOneItem(job.id, job.item.name);
    });

    it('stores one item, and says the same to both: two workers had it at once', async () => {
      const other = { ...env, QUEUE_PREFIX: `test-${uniqueWord()}` };
      const otherJobs = openQueue(other);
      const otherWorker = ServiceProcess.start('worker', other);
      await otherWorker.becomes('ready');
      for (let round = 0; round < 5; round++) {
        replies.length = 0;
        const job = createJob({ replyTo: subscriber.channel });
        await Promise.all([add(job.id, job), otherJobs.queue.add('create', job, { jobId: job.id })]);
        await expectOneItem(job.id, job.item.name);
      }
      expect(await otherWorker.end('SIGTERM')).toMatchObject({ code: 0 });
      await otherJobs.close();
    });

    it('derives nothing anew when an earlier try has stored its item', async () => {
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
    it('is found in MongoDB: it is late, not lost', async () => {
      await forbidReplies();
      const since = Date.now();
      const { id } = await client.create(validInput());
      expect(Date.now() - since).toBeLessThan(MADE_UP_FOR_MS);
      expect((await client.call<Item>('getById', { id })).status).toBe(200);
    });

    it('is followed by quick ones: the api listens again when its connection was cut', async () => {
      for (let round = 0; round < 3; round++) {
        await jobs.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
        await eventually(async () => {
          const since = Date.now();
          await client.create(validInput());
          // Before the first look into MongoDB.
          expect(Date.now() - since).toBeLessThan(450);
        });
      }
    });
  });

  describe('that fails for good', () => {
    beforeAll(async () => {
      await database.connection.db?.command({ collMod: 'items', validator: { name: { $ne: 'Refused' } } });
    });

    it.each(['heard', 'lost'])(
      'answers 500 and stays in failed, its last try spent: a reply that is %s',
      async (reply) => {
        if (reply === 'lost') await forbidReplies();
        await jobs.queue.pause();
        const answering = client.call<ErrorBody>('create', validInput({ name: 'Refused' }), { 'X-Request-Id': reply });
        const [job] = await eventually(async () => {
          const waiting = await jobs.queue.getWaiting();
          expect(waiting).toHaveLength(1);
          return waiting;
        });
        const id = job?.id ?? '';
        await jobs.redis.hset(jobs.queue.toKey(id), 'atm', 9);
        await jobs.queue.resume();

        const { status, body } = await answering;
        expect([status, body.code, body.data]).toEqual([500, 'INTERNAL_SERVER_ERROR', undefined]);
        expect(await failed(id)).toMatchObject({ failedReason: 'Document failed validation' });
        await eventually(() => {
          expect(worker.log).toContainEqual(
            expect.objectContaining({
              msg: 'create failed for good',
              requestId: reply,
              id,
              reason: expect.anything() as string,
            }),
          );
        });
      },
    );

    it('is told to who waits for it', async () => {
      const job = createJob({ replyTo: subscriber.channel });
      job.item.name = 'Refused';
      await jobs.queue.add('create', job, { ...CREATE_JOB_OPTIONS, attempts: 1, jobId: job.id });
      await eventually(() => {
        expect(replies).toEqual([{ id: job.id, outcome: { kind: 'failed' } }]);
      });
    });

    it('is tried again first, later and later', async () => {
      const job = createJob();
      job.item.name = 'Refused';
      await add(job.id, job);
      await eventually(async () => {
        expect((await jobs.queue.getJob(job.id))?.attemptsMade).toBeGreaterThan(1);
      });
      expect(await jobs.queue.getJobState(job.id)).not.toBe('failed');
      await eventually(() => jobs.queue.remove(job.id));
    });
  });

  it('carries the id of its request into the log of the worker', async () => {
    const { body } = await client.call<Item>('create', validInput(), { 'X-Request-Id': 'shop-4711' });
    const { id, publicId } = body;
    await eventually(() => {
      expect(worker.log).toContainEqual(
        expect.objectContaining({ msg: 'item stored', requestId: 'shop-4711', id, publicId }),
      );
    });
  });

  it('that nobody takes makes the worker not ready', async () => {
    await jobs.queue.pause();
    await add(newMongoId(), {});
    const { parts } = await worker.becomes('not ready');
    expect(parts).toEqual({ mongodb: 'ok', redis: 'ok', consumer: 'jobs wait and none is done' });
    await jobs.queue.resume();
    await worker.becomes('ready');
  });

  /** Redis takes no message for any channel from now on. */
  async function forbidReplies(): Promise<void> {
    await jobs.redis.call('ACL', 'SETUSER', 'default', 'resetchannels');
  }
});

/** A job as the API makes it. */
function createJob(changes: Partial<CreateJob> = {}): CreateJob {
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
