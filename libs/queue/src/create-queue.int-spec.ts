import { randomUUID } from 'node:crypto';
import type { NewItem } from '@app/contracts';
import { context, ROOT_CONTEXT, trace, type ContextManager } from '@opentelemetry/api';
import { Queue } from 'bullmq';
import { ReplyError } from 'ioredis';
import { patient } from '../../../test/support/patient.js';
import { CreateQueue, type ExistingJob, type NewJob } from './create-queue.js';
import { CREATE_JOB_OPTIONS, CREATE_QUEUE, keyPrefix } from './queue-settings.js';
import { connectRedis, untilReady, type RedisConnection } from './redis.js';

const RedisError = ReplyError as new (message: string) => Error;
const UNLIMITED = { total: { jobs: 1000, bytes: 1_000_000 }, seller: undefined };

const NO_CONTEXT: ContextManager = {
  active: () => ROOT_CONTEXT,
  with: (_context, run, self, ...args) => run.apply(self as never, args),
  bind: (_context, target) => target,
  enable: () => NO_CONTEXT,
  disable: () => NO_CONTEXT,
};

describe('CreateQueue', () => {
  let redis: RedisConnection;
  let queue: CreateQueue;
  let keyOf: (name: string) => string;
  let jobKey: string;
  let job: NewJob;
  let reported: string[];
  beforeEach(async () => {
    redis = patient(connectRedis(process.env['REDIS_URL'] ?? '', 'producer', () => undefined));
    await untilReady(redis);
    const prefix = randomUUID();
    reported = [];
    queue = new CreateQueue(redis, prefix, UNLIMITED, (line) => reported.push(line));
    const id = '65f000000000000000000001';
    job = { id, requestHash: 'hash', requestId: '', sellerId: 'anonymous', replyTo: 'replies', item: {} as NewItem };
    keyOf = (name) => `${keyPrefix(prefix)}:${CREATE_QUEUE}:${name}`;
    jobKey = keyOf(id);
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

  it('the create queue replaces the data of an unreadable job', async () => {
    const unreadable = await makeUnreadable();
    expect(await queue.replace(unreadable, job)).toBe('queued');
    expect(await storedHash()).toBe('hash');
  });

  it('the create queue continues the trace of a request in the job that it replaces', async () => {
    const unreadable = await makeUnreadable();
    const request = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', traceFlags: 1 };
    const active = trace.setSpanContext(ROOT_CONTEXT, request);
    context.setGlobalContextManager({ ...NO_CONTEXT, active: () => active });
    await queue.replace(unreadable, job).finally(() => {
      context.disable();
    });
    const data = JSON.parse((await redis.hget(jobKey, 'data')) ?? '{}') as unknown;
    expect(data).toMatchObject({ traceparent: `00-${request.traceId}-${request.spanId}-01`, requestHash: 'hash' });
  });

  it('the create queue does not overwrite what another request has put into an unreadable job', async () => {
    const unreadable = await makeUnreadable();
    await queue.replace(unreadable, { ...job, requestHash: 'first' });
    expect(await queue.replace(unreadable, { ...job, requestHash: 'second' })).toBe('queued');
    expect(await storedHash()).toBe('first');
  });

  it('the create queue does not count a replaced job as refused, even if Redis refuses to retry it', async () => {
    const unreadable = await makeUnreadable();
    jest.spyOn(queue, 'retry').mockResolvedValue('refused');
    expect(await queue.replace(unreadable, job)).toBe('unknown');
    expect(await storedHash()).toBe('hash');
  });

  it('the create queue counts a job as refused if Redis refuses to replace it', async () => {
    const unreadable = await makeUnreadable();
    redis.disconnect();
    expect(await queue.replace(unreadable, job)).toBe('refused');
  });

  it('the create queue does not count a job as refused if Redis stops the script after it has queued the job', async () => {
    await redis.del(keyOf('marker'));
    await redis.set(keyOf('marker'), 'not a sorted set');
    const id = '65f000000000000000000002';
    expect(await queue.add({ ...job, id })).toBe('unknown');
    expect(await redis.lrange(keyOf('wait'), 0, 0)).toEqual([id]);
  });

  it('the create queue leaves nothing of a job if Redis stops the script before it has queued the job', async () => {
    await redis.del(keyOf('events'));
    await redis.set(keyOf('events'), 'not a stream');
    const id = '65f000000000000000000002';
    expect(await queue.add({ ...job, id })).toBe('unknown');
    expect(await redis.exists(keyOf(id))).toBe(0);
    expect(await redis.lrange(keyOf('wait'), 0, -1)).toEqual([job.id]);
  });

  describe('if Redis replies to an add with an error', () => {
    afterEach(() => {
      jest.restoreAllMocks();
    });

    it.each([
      ['refused', 'NOAUTH Authentication required.'],
      ['refused', "NOPERM this user has no permissions to run the 'evalsha' command"],
      ['refused', "NOPERM User api has no permissions to run the 'evalsha' command"],
      ['refused', 'LOADING Redis is loading the dataset in memory'],
      ['refused', "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."],
      ['refused', 'CLUSTERDOWN Hash slot not served'],
      ['refused', 'BUSY Redis is busy running a script.'],
      ['refused', 'TRYAGAIN Multiple keys request during rehashing of slot'],
      ['refused', "OOM command not allowed when used memory > 'maxmemory'. script: 5ab4, on @user_script:592."],
      ['refused', 'ERR Error running script (call to f_5ab4): @user_script:592: -OOM command not allowed'],
      ['refused', "READONLY You can't write against a read only replica. script: 5ab4, on @user_script:592."],
      ['refused', 'MISCONF Errors writing to the AOF file: No space left on device script: 5ab4, on @user_script:592.'],
      ['refused', 'NOREPLICAS Not enough good replicas to write. script: 5ab4, on @user_script:592.'],
      [
        'unknown',
        'WRONGTYPE Operation against a key holding the wrong kind of value script: 5ab4, on @user_script:68.',
      ],
      [
        'unknown',
        "ERR The user executing the script can't run this command or subcommand script: 5ab4, on @user_script:582.",
      ],
      [
        'unknown',
        "NOPERM ACL failure in script: User api has no permissions to run the 'xadd' command script: 5ab4, on @user_script:582.",
      ],
      ['unknown', 'ERR value is not an integer or out of range script: 5ab4, on @user_script:69.'],
    ])('the create queue counts a job as %s if Redis replies %s', async (result, reply) => {
      jest.spyOn(Queue.prototype, 'add').mockRejectedValue(new RedisError(reply));
      expect(await queue.add(job)).toBe(result);
    });
  });

  describe('if a job has failed whose data Redis has lost', () => {
    /** Leaves the job as a worker does that takes it after Redis has lost its hash. */
    async function loseData(): Promise<ExistingJob> {
      await redis.del(jobKey, keyOf('wait'));
      await redis.hset(jobKey, { processedOn: 1, ats: 1 });
      await redis.zadd(keyOf('failed'), 1, job.id);
      const found = await queue.find(job.id);
      expect(found).toEqual({ requestHash: undefined, hasFailed: true, data: undefined });
      return found as ExistingJob;
    }

    it.each([
      ['data', () => Promise.resolve()],
      ['hash', () => redis.del(jobKey)],
    ])('the create queue adds a job anew in place of a failed one without its %s', async (_what, lose) => {
      const failed = await loseData();
      await lose();
      expect(await queue.replace(failed, job)).toBe('queued');
      expect([await storedHash(), (await queue.find(job.id))?.hasFailed]).toEqual(['hash', false]);
      const { ats, opts = '' } = await redis.hgetall(jobKey);
      expect(ats).toBeUndefined();
      expect(JSON.parse(opts)).toMatchObject({ attempts: CREATE_JOB_OPTIONS.attempts, removeOnComplete: true });
      expect(await redis.lrange(keyOf('wait'), 0, -1)).toEqual([job.id]);
    });

    it('the create queue keeps the job that another request has added in the meantime, also if it has failed', async () => {
      const failed = await loseData();
      await queue.replace(failed, { ...job, requestHash: 'first' });
      await redis.del(keyOf('wait'));
      await redis.zadd(keyOf('failed'), 1, job.id);
      await queue.replace(failed, { ...job, requestHash: 'second' });
      expect(await storedHash()).toBe('first');
    });
  });

  it.each([
    ['find a job', () => jobKey, () => queue.find(job.id)],
    ['find out whether a job has failed', () => keyOf('failed'), () => queue.find(job.id)],
    ['look up jobs', () => keyOf('failed'), () => queue.findStates([job.id])],
    ['look up lost jobs', () => keyOf('failed'), () => queue.findLost([job.id])],
  ])('the create queue reports why Redis does not let it %s', async (_what, key, find) => {
    await redis.del(key());
    await redis.set(key(), 'of another type');
    await expect(find()).rejects.toThrow('WRONGTYPE');
    expect(reported).toEqual([expect.stringMatching(/^Redis refuses a command: WRONGTYPE/)]);
  });

  it('the create queue queues a job again that is in no list, with its data and priority', async () => {
    await redis.del(keyOf('wait'));
    await redis.hset(jobKey, 'priority', 3);
    expect(await queue.findLost([job.id])).toEqual([job.id]);
    const results = await Promise.all([queue.retry(job.id), queue.retry(job.id)]);
    expect(results).toEqual(['queued', 'queued']);
    expect(await redis.zrange(keyOf('prioritized'), 0, -1)).toEqual([job.id]);
    expect([await storedHash(), await redis.hget(jobKey, 'priority')]).toEqual(['hash', '3']);
    expect(await queue.findLost([job.id])).toEqual([]);
  });

  it.each([
    ['wait', 'paused'],
    ['wait', 'active'],
  ])('the create queue leaves a job unchanged that has moved from %s to %s', async (from, to) => {
    await redis.rename(keyOf(from), keyOf(to));
    await redis.hset(jobKey, 'mark', 'unchanged');
    expect(await queue.retry(job.id)).toBe('queued');
    expect(await queue.addAgain(job)).toBe('queued');
    expect(await redis.hget(jobKey, 'mark')).toBe('unchanged');
    expect(await redis.llen(keyOf('wait'))).toBe(0);
  });

  it('the create queue queues a job again that has completed, and that another producer kept', async () => {
    await redis.del(keyOf('wait'));
    await redis.zadd(keyOf('completed'), 1, job.id);
    expect(await queue.retry(job.id)).toBe('queued');
    expect(await redis.lrange(keyOf('wait'), 0, -1)).toEqual([job.id]);
    expect(await redis.zcard(keyOf('completed'))).toBe(0);
  });
});
