import { randomUUID } from 'node:crypto';
import type { ErrorBody } from '@app/contracts';
import { newMongoId } from '@app/database';
import { CREATE_JOB_OPTIONS } from '@app/queue';
import type { Answer } from './support/api-client.js';
import { expectError } from './support/errors.js';
import { eventually } from './support/eventually.js';
import { uniqueWord, validInput } from './support/items.js';
import { ownRedis, readyRedis, type OwnDatabase } from './support/own-databases.js';
import type { Ready } from './support/processes.js';
import { openQueue, type OpenQueue } from './support/queue.js';
import { startService, startWorker, type Service } from './support/service.js';

const ASYNC = { Prefer: 'respond-async' };
/** A count of the queue is at most a quarter of a second old. */
const KNOWN_AFTER_MS = 2000;

jest.setTimeout(60_000);

describe('a full queue', () => {
  let service: Service;
  let jobs: OpenQueue;
  afterEach(async () => {
    await service.stop();
    await jobs.queue.obliterate({ force: true });
    await jobs.close();
  });

  async function start(env: NodeJS.ProcessEnv): Promise<void> {
    service = await startService({ worker: false, env });
    jobs = openQueue(service.env);
  }

  const create = (input: unknown, headers: Record<string, string> = ASYNC): Promise<Answer<ErrorBody>> =>
    service.api.call('create', input, headers);

  function expectRefused(answer: Answer<ErrorBody>): void {
    expectError(answer, 503, 'SERVICE_UNAVAILABLE');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(30);
  }

  /** Sends until it is refused; answers how many were taken before. */
  async function fill(input = validInput()): Promise<number> {
    for (let taken = 0; ; taken++) {
      const answer = await create(input);
      if (answer.status !== 202) {
        expectRefused(answer);
        return taken;
      }
    }
  }

  it('refuses what would be one job too many, waiting or not', async () => {
    await start({ BACKLOG_LIMIT: '5' });
    expect(await fill()).toBe(5);
    expectRefused(await create(validInput(), {}));
    expectRefused(await create(validInput(), { 'Idempotency-Key': randomUUID() }));
    expect(await jobs.queue.getWaitingCount()).toBe(5);
  });

  it('refuses most of a burst, and never with a 500', async () => {
    await start({ BACKLOG_LIMIT: '5' });
    const answers = await Promise.all(Array.from({ length: 100 }, () => create(validInput())));
    for (const answer of answers.filter(({ status }) => status !== 202)) expectRefused(answer);
    const waiting = await jobs.queue.getWaitingCount();
    expect(waiting).toBe(answers.filter(({ status }) => status === 202).length);
    // Those who are on their way while the queue is counted may be taken beyond it.
    expect(waiting).toBeLessThan(20);
    expect(await fill()).toBe(0);
  });

  it('still answers reads, replays and those who join a queued create', async () => {
    await start({ BACKLOG_LIMIT: '5' });
    const [stored, queued] = [randomUUID(), randomUUID()];
    const worker = await startWorker(service.env);
    const { status, body } = await create(validInput(), { 'Idempotency-Key': stored });
    expect(status).toBe(200);
    await worker.stop();
    expect((await create(validInput(), { ...ASYNC, 'Idempotency-Key': queued })).status).toBe(202);
    // The first one may still be counted for a quarter of a second.
    expect([3, 4]).toContain(await fill());

    const replay = await create(validInput(), { 'Idempotency-Key': stored });
    expect([replay.status, replay.body]).toEqual([200, body]);
    expect((await create(validInput(), { ...ASYNC, 'Idempotency-Key': queued })).status).toBe(202);
    for (const key of [stored, queued]) {
      expect((await create(validInput({ price: 2 }), { ...ASYNC, 'Idempotency-Key': key })).status).toBe(422);
    }
    expect(await service.api.getAll()).toHaveLength(1);
    expect((await service.api.call('getById', { id: (body as unknown as { id: string }).id })).status).toBe(200);
    const joined = create(validInput(), { 'Idempotency-Key': queued });
    const again = await startWorker(service.env);
    expect((await joined).status).toBe(200);
    await again.stop();
  });

  it('creates nothing that was refused, and takes creates again when it has drained', async () => {
    await start({ BACKLOG_LIMIT: '5' });
    await fill();
    const [key, name] = [randomUUID(), uniqueWord()];
    expectRefused(await create(validInput({ name }), { ...ASYNC, 'Idempotency-Key': key }));
    const worker = await startWorker(service.env);
    // The key is not bound.
    await eventually(async () => {
      expect((await create(validInput(), { 'Idempotency-Key': key })).status).toBe(200);
    });
    await worker.stop();
    expect(await service.database.models.items.countDocuments({ name })).toBe(0);
    expect(await service.database.models.items.countDocuments()).toBe(6);
  });

  it('is full by the bytes of its jobs as well', async () => {
    await start({ BACKLOG_BYTES: '300000', MAX_ITEM_BYTES: '200000' });
    const large = validInput({ description: 'x'.repeat(100_000) });
    await eventually(async () => {
      expect(await fill(large)).toBeLessThanOrEqual(1);
    }, KNOWN_AFTER_MS);
    const waiting = await jobs.queue.getWaitingCount();
    expect(waiting).toBeGreaterThanOrEqual(3);
    expectRefused(await create(validInput()));
    expect(await jobs.queue.getWaitingCount()).toBe(waiting);
  });

  it('is full of delayed jobs as well', async () => {
    await start({ BACKLOG_LIMIT: '5', BACKLOG_BYTES: '300000' });
    await keep('delayed', 5, 'x');
    await eventually(async () => {
      expect(await fill()).toBe(0);
    }, KNOWN_AFTER_MS);
    await jobs.queue.clean(0, 1, 'delayed');
    await eventually(async () => {
      expect((await create(validInput())).status).toBe(202);
    }, KNOWN_AFTER_MS);
  });

  it('is full of the bytes of delayed jobs as well', async () => {
    await start({ BACKLOG_BYTES: '300000' });
    await keep('delayed', 4, 'x'.repeat(100_000));
    await eventually(async () => {
      expect(await fill()).toBe(0);
    }, KNOWN_AFTER_MS);
  });

  it('is never full of failed jobs', async () => {
    await start({ BACKLOG_LIMIT: '5', BACKLOG_BYTES: '300000' });
    await keep('failed', 10, 'x'.repeat(50_000));
    await eventually(async () => {
      expect(await fill()).toBe(5);
    }, KNOWN_AFTER_MS);
    expect(await jobs.queue.getFailedCount()).toBe(10);
  });

  /** Puts jobs into a state in which they wait for their next try or for an operator. */
  async function keep(state: 'failed' | 'delayed', count: number, padding: string): Promise<void> {
    const options = { ...CREATE_JOB_OPTIONS, ...(state === 'delayed' ? { delay: 600_000 } : {}) };
    for (let n = 0; n < count; n++) await jobs.queue.add('create', { padding }, { ...options, jobId: newMongoId() });
    if (state === 'delayed') return;
    // Without a version they are no create jobs.
    const worker = await startWorker(service.env);
    await eventually(async () => {
      expect(await jobs.queue.getFailedCount()).toBe(count);
    });
    await worker.stop();
  }
});

describe('a queue that does not drain', () => {
  let service: Service;
  let jobs: OpenQueue;
  beforeEach(async () => {
    service = await startService({ worker: false });
    jobs = openQueue(service.env);
  });
  afterEach(async () => {
    await service.stop();
    await jobs.queue.obliterate({ force: true });
    await jobs.close();
  });

  it('refuses those whose wait is over already, takes the others, and all again when it drains', async () => {
    const create = (headers: Record<string, string>): Promise<Answer<ErrorBody>> =>
      service.api.call('create', validInput(), headers);
    const waiting: Promise<Answer<ErrorBody>>[] = [create({})];
    await eventually(async () => {
      expect((await create(ASYNC)).status).toBe(202);
      const answer = await create({ Prefer: 'wait=1' });
      expectError(answer, 503, 'SERVICE_UNAVAILABLE');
      expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(10);
    });
    const since = Date.now();
    expectError(await create({ Prefer: 'wait=1' }), 503, 'SERVICE_UNAVAILABLE');
    expect(Date.now() - since).toBeLessThan(1000);
    expect((await create(ASYNC)).status).toBe(202);
    // These can wait for longer than the stall has lasted.
    waiting.push(create({}));
    const queued = await jobs.queue.getWaitingCount();

    const worker = await startWorker(service.env);
    await eventually(async () => {
      expect((await create({})).status).toBe(200);
    });
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await service.database.models.items.countDocuments()).toBeGreaterThanOrEqual(queued + 1);
    await worker.stop();
  });

  it('is noticed also by a single client who tries again and again', async () => {
    const answers: number[] = [];
    await eventually(async () => {
      const { status } = await service.api.call('create', validInput(), { Prefer: 'wait=2' });
      answers.push(status);
      expect(status).toBe(503);
    });
    expect(answers.slice(0, -1)).toEqual(answers.slice(0, -1).map(() => 504));
    expect(await jobs.queue.getWaitingCount()).toBe(answers.length - 1);
  });

  it('that is slow for a while only refuses nobody who can wait', async () => {
    const worker = await startWorker(service.env);
    const answers = await Promise.all(
      Array.from({ length: 300 }, () => service.api.call<ErrorBody>('create', validInput())),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await worker.stop();
  });
});

describe('a Redis that fills up', () => {
  let redis: OwnDatabase;
  let service: Service;
  let jobs: OpenQueue;
  beforeEach(async () => {
    redis = await ownRedis();
    await readyRedis(redis);
    service = await startService({ env: { REDIS_URL: redis.url } });
    jobs = openQueue(service.env);
  });
  afterEach(async () => {
    await service.stop();
    await jobs.close();
    await redis.remove();
  });

  const used = async (): Promise<number> => Number(/used_memory:(\d+)/.exec(await jobs.redis.info('memory'))?.[1]);
  const limit = (bytes: number): Promise<unknown> => jobs.redis.call('CONFIG', 'SET', 'maxmemory', String(bytes));
  const create = (headers: Record<string, string> = {}): Promise<Answer<ErrorBody>> =>
    service.api.call('create', validInput(), headers);

  it('takes creates while less than 70 % of its maxmemory is used', async () => {
    await limit((await used()) * 2);
    expect((await create()).status).toBe(200);
  });

  it.each([
    ['over 70 % of its maxmemory', 1.2],
    ['beyond its maxmemory', 0.5],
  ])('%s refuses with 503, never 500, and takes creates again with room', async (_what, factor) => {
    const { body } = await create({ 'Idempotency-Key': 'before' });
    await limit(Math.floor((await used()) * factor));
    await eventually(async () => {
      expectError(await create(), 503, 'SERVICE_UNAVAILABLE');
    }, KNOWN_AFTER_MS);
    await eventually(async () => {
      const { body: ready } = await service.api.request<Ready>('/health/ready', {});
      expect([ready.status, ready.parts['memory']]).toEqual([
        'degraded',
        expect.stringContaining('creates are refused'),
      ]);
      expect(await metrics()).toContain('item_listing_part_ok{part="memory"} 0');
    });
    const before = await service.database.models.items.countDocuments();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => create(index % 2 === 0 ? {} : ASYNC)));
    for (const answer of answers) {
      expectError(answer, 503, 'SERVICE_UNAVAILABLE');
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    const replay = await create({ 'Idempotency-Key': 'before' });
    expect([replay.status, replay.body]).toEqual([200, body]);
    expect((await service.api.getAll()).length).toBeGreaterThan(0);
    expect(await service.database.models.items.countDocuments()).toBe(before);
    await limit(0);
    await eventually(async () => {
      expect((await create()).status).toBe(200);
      expect(await metrics()).not.toContain('part="memory"');
    });
  });

  const metrics = async (): Promise<string> => (await fetch(`${service.api.base}/metrics`)).text();
});
