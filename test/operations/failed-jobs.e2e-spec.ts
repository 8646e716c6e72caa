import { mongoId, newMongoId } from '@app/database';
import { CREATE_JOB_OPTIONS } from '@app/queue';
import { runToExit, type CommandExit } from '../support/command.js';
import { createRedis, removeDatabaseServers } from '../support/database-servers.js';
import { eventually } from '../support/eventually.js';
import { record, store } from '../support/items.js';
import { createJob, openQueue, type OpenQueue } from '../support/queue.js';
import { startService, type Service } from '../support/service.js';

/** Refused by a rule of the database until a test lifts it. */
const REFUSED = 'Refused';

const DEEP = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;

describe('the command jobs', () => {
  let service: Service;
  let jobs: OpenQueue;
  beforeAll(async () => {
    service = await startService();
    jobs = openQueue(service.env);
  });
  beforeEach(() => refuse({ name: { $ne: REFUSED } }));
  afterEach(async () => {
    await jobs.queue.obliterate({ force: true });
    await service.database.models.items.deleteMany({ name: REFUSED });
  });
  afterAll(async () => {
    await jobs.close();
    await service.stop();
    await removeDatabaseServers();
  });

  const refuse = (validator: object): Promise<unknown> =>
    Promise.resolve(service.database.connection.db?.command({ collMod: 'items', validator }));
  const run = (...args: string[]): Promise<CommandExit> => runToExit('jobs', service.env, args);
  const json = async (...args: string[]): Promise<unknown> => JSON.parse((await run(...args, '--json')).stdout);
  const addFailing = async (...added: { id: string }[]): Promise<void> => {
    for (const job of added) await jobs.queue.add('create', job, { ...CREATE_JOB_OPTIONS, attempts: 1, jobId: job.id });
    await eventually(async () => {
      expect(await jobs.queue.getFailedCount()).toBe(added.length);
    });
  };
  /** Adds a job whose item the database refuses, and returns its id. */
  const addRefused = async (): Promise<string> => {
    const job = createJob();
    job.item.name = REFUSED;
    await addFailing(job);
    return job.id;
  };
  /** Adds jobs that no worker can process, and returns their ids. */
  const addInvalid = async (count: number): Promise<string[]> => {
    const added = Array.from({ length: count }, () => ({ id: newMongoId() }));
    await addFailing(...added);
    return added.map(({ id }) => id);
  };

  it('the command jobs lists failed jobs, and shows one with its errors and its item', async () => {
    const id = await addRefused();
    const { stdout, code } = await run('list');
    expect(stdout).toMatch(
      new RegExp(`^${id}  \\d{4}-\\d\\d-\\d\\dT\\S+Z  after 1 attempt: Document failed validation\n1 failed job\n$`),
    );
    expect(code).toBe(0);
    const summary = { id, attempts: 1, reason: 'Document failed validation', failedAt: expect.any(String) as string };
    expect(await json('list')).toEqual({ total: 1, page: 1, pages: 1, jobs: [summary] });
    const shown = await run('show', id);
    expect(shown.stdout).toContain('Error: Document failed validation');
    expect(shown.stdout).toContain(`"name": "${REFUSED}"`);
    expect(await json('show', id)).toMatchObject({ ...summary, data: { id, item: { name: REFUSED } } });
  });

  it('the command jobs escapes control characters in what it prints', async () => {
    const [id = ''] = await addInvalid(1);
    const stack = ['Error: \u001B[2J\r\n\tat \u009B'];
    await jobs.redis.hset(jobs.queue.toKey(id), {
      failedReason: 'Red \u001B[31m\u009B1m\r',
      stacktrace: JSON.stringify(stack),
      data: JSON.stringify({ id, name: '\u009B\u202E' }),
    });
    const { stdout } = await run('show', id);
    expect(stdout).toContain('Red \\u001b[31m\\u009b1m\\u000d\n');
    expect(stdout).toContain('Error: \\u001b[2J\\u000d\n\tat \\u009b\n');
    expect(stdout).toContain('"name": "\\u009b\\u202e"');
    for (const args of [['list'], ['list', '--json'], ['show', id, '--json']])
      expect((await run(...args)).stdout).not.toMatch(/[^\P{Cc}\n]/u);
    expect(await json('show', id)).toMatchObject({ reason: 'Red \u001B[31m\u009B1m\r', stacks: stack });
  });

  it('the command jobs lists many failed jobs on pages', async () => {
    const ids = await addInvalid(45);
    const pages = (await Promise.all([1, 2, 3, 4].map((page) => json('list', '--page', String(page))))) as {
      jobs: { id: string; failedAt: string }[];
    }[];
    expect(pages.map(({ jobs: { length } }) => length)).toEqual([20, 20, 5, 0]);
    const listed = pages.flatMap((page) => page.jobs);
    expect(listed.map(({ id }) => id).sort()).toEqual(ids.sort());
    const times = listed.map(({ failedAt }) => failedAt);
    expect(times).toEqual(times.toSorted().reverse());
    expect((await run('list')).stdout).toContain('45 failed jobs, page 1 of 3');
  });

  it('the command jobs retries a job, which stores its item once however often it is retried', async () => {
    const id = await addRefused();
    await refuse({});
    expect(await run('retry', id)).toMatchObject({ code: 0, stdout: `${id} retried\n` });
    await eventually(async () => {
      expect((await service.api.call('getById', { id })).status).toBe(200);
    });
    expect(await run('retry', id)).toMatchObject({ code: 1, stdout: `${id} not failed\n` });
    expect(await service.database.models.items.countDocuments({ name: REFUSED })).toBe(1);
  });

  it('the command jobs retries a job whose item is stored without storing another', async () => {
    const id = await addRefused();
    await refuse({});
    const stored = { _id: mongoId(id), name: REFUSED, requestHash: 'hash', publicId: 900_001 };
    await store(service.database, record(stored));
    expect(await run('retry', id)).toMatchObject({ code: 0 });
    await eventually(async () => {
      expect(await jobs.queue.getJobState(id)).toBe('unknown');
    });
    expect(await service.database.models.items.find({ name: REFUSED }).lean()).toMatchObject([{ publicId: 900_001 }]);
  });

  it('the command jobs retries a job that was given up because workers died of it', async () => {
    const job = createJob();
    await jobs.queue.pause();
    await jobs.queue.add('create', job, { ...CREATE_JOB_OPTIONS, jobId: job.id });
    // As after ten stalls, with five workers lost while they did it alone.
    await jobs.redis.hset(jobs.queue.toKey(job.id), { stc: 10, progress: 5 });
    await jobs.queue.resume();
    await eventually(async () => {
      expect(await jobs.queue.getFailedCount()).toBe(1);
    });
    expect(await run('retry', job.id)).toMatchObject({ code: 0 });
    await eventually(async () => {
      expect((await service.api.call('getById', { id: job.id })).status).toBe(200);
    });
  });

  it('the command jobs discards a job, and no job that has been retried', async () => {
    const [id = '', other = ''] = await addInvalid(2);
    expect(await run('discard', id)).toMatchObject({ code: 0, stdout: `${id} discarded\n` });
    expect(await run('discard', id)).toMatchObject({ code: 1, stdout: `${id} not failed\n` });
    expect(await jobs.queue.getJob(id)).toBeUndefined();
    await jobs.queue.pause();
    await run('retry', other);
    expect(await run('discard', other)).toMatchObject({ code: 1, stdout: `${other} not failed\n` });
    expect(await jobs.queue.getJobState(other)).toMatch(/paused|waiting/);
    await jobs.queue.resume();
  });

  it('the command jobs retries and discards all failed jobs', async () => {
    const ids = await addInvalid(3);
    const retried = (await json('retry', '--all')) as { id: string; outcome: string }[];
    expect(retried.map(({ outcome }) => outcome)).toEqual(['retried', 'retried', 'retried']);
    await eventually(async () => {
      expect(await jobs.queue.getFailedCount()).toBe(3);
    });
    const discarded = (await json('discard', '--all')) as { id: string; outcome: string }[];
    expect(discarded.map(({ id }) => id).sort()).toEqual(ids.sort());
    expect(await run('list')).toMatchObject({ stdout: '0 failed jobs\n' });
    expect(await run('discard', '--all')).toMatchObject({ code: 0, stdout: 'no failed jobs\n' });
  });

  it.each([
    ['has no data', async (key: string) => jobs.redis.del(key)],
    ['has data that is not JSON', async (key: string) => jobs.redis.hset(key, 'data', '{')],
    ['has data that is nested too deeply', async (key: string) => jobs.redis.hset(key, 'data', DEEP)],
    ['has no options', async (key: string) => jobs.redis.hset(key, 'opts', 'null')],
    ['is not a job at all', async (key: string) => jobs.redis.del(key).then(() => jobs.redis.set(key, 'text'))],
  ])('the command jobs lists and discards a job that %s', async (_, damage) => {
    const [id = ''] = await addInvalid(1);
    await damage(jobs.queue.toKey(id));
    expect((await run('list')).stdout).toMatch(new RegExp(`^${id}  \\S+  The job cannot be read`));
    expect(await run('show', id)).toMatchObject({ code: 0 });
    expect(await run('retry', id)).toMatchObject({ code: 1, stdout: `${id} unreadable\n` });
    expect(await run('discard', id)).toMatchObject({ code: 0 });
    expect(await json('list')).toMatchObject({ total: 0 });
  });

  it('the command jobs rejects arguments that it does not understand', async () => {
    const [id = ''] = await addInvalid(1);
    const rejected = ['', 'list it', 'show', 'retry', 'retry a b', 'discard a --all', 'list --page 0', '--what'];
    rejected.push('discard --all --page 2', `discard ${id} --page 1`, 'retry --all --page 2', `show ${id} --page 2`);
    const exits = await Promise.all(rejected.map((args) => run(...args.split(' '))));
    for (const { code, stderr, stdout } of exits) {
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('usage: jobs list');
    }
    expect(await jobs.queue.getFailedCount()).toBe(1);
  });

  it('the command jobs says that Redis does not respond', async () => {
    const redis = await createRedis();
    const { code, stderr } = await runToExit('jobs', { ...service.env, REDIS_URL: redis.url }, ['list']);
    expect(code).toBe(2);
    expect(stderr).toContain('Redis did not respond within 10 s');
  });
});
