import { randomUUID } from 'node:crypto';
import type { ErrorBody } from '@app/contracts';
import { newMongoId } from '@app/database';
import { CREATE_JOB_OPTIONS } from '@app/queue';
import type { HttpResponse } from './support/api-client.js';
import { expectError } from './support/errors.js';
import { eventually } from './support/eventually.js';
import { uniqueWord, validInput } from './support/items.js';
import { createRedis, startRedis, type DatabaseServer } from './support/database-servers.js';
import type { ReadyReport } from './support/processes.js';
import { openQueue, type OpenQueue } from './support/queue.js';
import { startService, startWorker, type Service } from './support/service.js';

const ASYNC = { Prefer: 'respond-async' };
/** The API recounts the queue within 250 ms. The rest is for slow machines. */
const COUNTED_WITHIN_MS = 2000;
/** Longer than tests wait for a worker to start. */
const CREATE_WAIT_MS = '60000';

/** Returns how many creates an API has refused for one of these reasons. */
async function countRefused(service: Service, ...reasons: string[]): Promise<number> {
  const text = await service.metrics();
  const counts = reasons.map(
    (reason) =>
      new RegExp(`^item_listing_creates_total{outcome="refused",reason="${reason}"} (\\d+)$`, 'm').exec(text)?.[1],
  );
  return counts.reduce((sum, count) => sum + Number(count), 0);
}

describe('a full queue', () => {
  let service: Service;
  let jobs: OpenQueue;
  afterEach(async () => {
    await service.stop();
    await jobs.queue.obliterate({ force: true });
    await jobs.close();
  });

  async function start(env: NodeJS.ProcessEnv): Promise<void> {
    service = await startService({ worker: false, env: { CREATE_WAIT_MS, ...env } });
    jobs = openQueue(service.env);
  }

  const create = (input: unknown, headers: Record<string, string> = ASYNC): Promise<HttpResponse<ErrorBody>> =>
    service.api.call('create', input, headers);
  const createOnce = (input: unknown, headers: Record<string, string> = ASYNC): Promise<HttpResponse<ErrorBody>> =>
    service.api.callOnce('create', input, headers);

  function expectRefused(response: HttpResponse<ErrorBody>): void {
    expectError(response, 503, 'SERVICE_UNAVAILABLE');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(30);
  }

  /** Sends creates until one is refused because the queue is full. Returns how many were accepted. */
  async function fill(input = validInput()): Promise<number> {
    const countLate = (): Promise<number> => countRefused(service, 'time', 'redis');
    let [accepted, late] = [0, await countLate()];
    for (;;) {
      const response = await createOnce(input);
      if (response.status === 202) {
        accepted++;
        continue;
      }
      expectRefused(response);
      const before = late;
      late = await countLate();
      if (late === before) return accepted;
    }
  }

  it('a full queue refuses a create beyond the limit, whether or not the client waits', async () => {
    await start({ BACKLOG_LIMIT: '5' });
    expect(await fill()).toBe(5);
    expectRefused(await createOnce(validInput(), {}));
    expectRefused(await createOnce(validInput(), { 'Idempotency-Key': randomUUID() }));
    expect(await jobs.queue.getWaitingCount()).toBe(5);
  });

  it('a full queue refuses most of a burst, always with 503', async () => {
    await start({ BACKLOG_LIMIT: '5' });
    const responses = await Promise.all(Array.from({ length: 100 }, () => createOnce(validInput())));
    for (const response of responses.filter(({ status }) => status !== 202)) expectRefused(response);
    const waiting = await jobs.queue.getWaitingCount();
    expect(waiting).toBe(responses.filter(({ status }) => status === 202).length);
    // Creates in flight while the queue is counted may exceed the limit.
    expect(waiting).toBeLessThan(20);
    expect(await fill()).toBe(0);
  });

  it('a full queue still serves reads, replays and retries of a queued create', async () => {
    await start({ BACKLOG_LIMIT: '5' });
    const [stored, queued] = [randomUUID(), randomUUID()];
    const worker = await startWorker(service.env);
    const { status, body } = await create(validInput(), { 'Idempotency-Key': stored });
    expect(status).toBe(200);
    await worker.stop();
    expect((await create(validInput(), { ...ASYNC, 'Idempotency-Key': queued })).status).toBe(202);
    // The count may include the stored create for up to 250 ms.
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

  it('a full queue does not create refused items, and accepts creates again once it has drained', async () => {
    await start({ BACKLOG_LIMIT: '5' });
    await fill();
    const [key, name] = [randomUUID(), uniqueWord()];
    expectRefused(await createOnce(validInput({ name }), { ...ASYNC, 'Idempotency-Key': key }));
    const worker = await startWorker(service.env);
    // The refused create has not bound the key to its body.
    await eventually(async () => {
      expect((await create(validInput(), { 'Idempotency-Key': key })).status).toBe(200);
    });
    await worker.stop();
    expect(await service.database.models.items.countDocuments({ name })).toBe(0);
    expect(await service.database.models.items.countDocuments()).toBe(6);
  });

  it('a queue is full when its jobs hold too many bytes', async () => {
    await start({ BACKLOG_BYTES: '300000', MAX_ITEM_BYTES: '200000' });
    const large = validInput({ description: 'x'.repeat(100_000) });
    await eventually(async () => {
      expect(await fill(large)).toBeLessThanOrEqual(1);
    }, COUNTED_WITHIN_MS);
    const waiting = await jobs.queue.getWaitingCount();
    expect(waiting).toBeGreaterThanOrEqual(3);
    expectRefused(await createOnce(validInput()));
    expect(await jobs.queue.getWaitingCount()).toBe(waiting);
  });

  it('delayed jobs count towards the limit of the queue', async () => {
    await start({ BACKLOG_LIMIT: '5', BACKLOG_BYTES: '300000' });
    await keep('delayed', 5, 'x');
    expect(await fill()).toBe(0);
    await jobs.queue.clean(0, 1, 'delayed');
    await eventually(async () => {
      expect((await createOnce(validInput())).status).toBe(202);
    }, COUNTED_WITHIN_MS);
  });

  it('the bytes of delayed jobs count towards the limit of the queue', async () => {
    await start({ BACKLOG_BYTES: '300000' });
    await keep('delayed', 4, 'x'.repeat(100_000));
    expect(await fill()).toBe(0);
  });

  it('a key of another type in the lists of the queue does not make it refuse creates', async () => {
    await start({});
    // BullMQ's counter of ids is a string.
    await jobs.redis.set(jobs.queue.toKey('id'), 1);
    await jobs.redis.zadd(jobs.queue.toKey('delayed'), 9e15, 'id');
    await jobs.redis.zadd(jobs.queue.toKey('prioritized'), 9e15, 'id');
    for (let n = 0; n < 2; n++) expect((await create(validInput())).status).toBe(202);
    await jobs.redis.del(jobs.queue.toKey('delayed'), jobs.queue.toKey('prioritized'));
  });

  it('failed jobs do not count towards the limit of the queue', async () => {
    await start({ BACKLOG_LIMIT: '5', BACKLOG_BYTES: '300000' });
    await keep('failed', 10, 'x'.repeat(50_000));
    expect(await fill()).toBe(5);
    expect(await jobs.queue.getFailedCount()).toBe(10);
  });

  /** Adds jobs that wait for a retry (delayed) or for an operator (failed). */
  async function keep(state: 'failed' | 'delayed', count: number, padding: string): Promise<void> {
    const options = { ...CREATE_JOB_OPTIONS, ...(state === 'delayed' ? { delay: 600_000 } : {}) };
    for (let n = 0; n < count; n++) await jobs.queue.add('create', { padding }, { ...options, jobId: newMongoId() });
    if (state === 'delayed') return;
    // The worker fails the jobs because their data has no version.
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
    service = await startService({ worker: false, env: { CREATE_WAIT_MS } });
    jobs = openQueue(service.env);
  });
  afterEach(async () => {
    await service.stop();
    await jobs.queue.obliterate({ force: true });
    await jobs.close();
  });

  it('a queue that does not drain refuses creates whose wait is shorter than the stall, and accepts all once it drains', async () => {
    const create = (headers: Record<string, string>): Promise<HttpResponse<ErrorBody>> =>
      service.api.call('create', validInput(), headers);
    const createInVain = async (): Promise<Headers> => {
      const response = await service.api.callOnce<ErrorBody>('create', validInput(), { Prefer: 'wait=1' });
      expectError(response, 503, 'SERVICE_UNAVAILABLE');
      return response.headers;
    };
    const waiting: Promise<HttpResponse<ErrorBody>>[] = [create({})];
    await eventually(async () => {
      expect((await create(ASYNC)).status).toBe(202);
      expect(Number((await createInVain()).get('retry-after'))).toBeLessThanOrEqual(10);
    });
    await eventually(async () => {
      const since = Date.now();
      await createInVain();
      expect(Date.now() - since).toBeLessThan(1000);
    });
    expect((await create(ASYNC)).status).toBe(202);
    // This client waits for longer than the stall has lasted.
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

  it('a queue that does not drain is detected even if a single client keeps retrying', async () => {
    const responses: number[] = [];
    await eventually(async () => {
      const { status } = await service.api.callOnce('create', validInput(), { Prefer: 'wait=2' });
      responses.push(status);
      expect(status).toBe(503);
    });
    expect(responses.slice(0, -1)).toEqual(responses.slice(0, -1).map(() => 504));
    expect(await jobs.queue.getWaitingCount()).toBe(responses.length - 1);
  });

  it('a slow queue refuses no client that can wait', async () => {
    const worker = await startWorker(service.env);
    const responses = await Promise.all(
      Array.from({ length: 300 }, () => service.api.call<ErrorBody>('create', validInput())),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await countRefused(service, 'slow', 'stalled')).toBe(0);
    await worker.stop();
  });
});

describe('a Redis that fills up', () => {
  let redis: DatabaseServer;
  let service: Service;
  let jobs: OpenQueue;
  beforeEach(async () => {
    redis = await createRedis();
    await startRedis(redis);
    service = await startService({ env: { REDIS_URL: redis.url, CREATE_WAIT_MS } });
    jobs = openQueue(service.env);
  });
  afterEach(async () => {
    await service.stop();
    await jobs.close();
    await redis.remove();
  });

  const used = async (): Promise<number> => Number(/used_memory:(\d+)/.exec(await jobs.redis.info('memory'))?.[1]);
  const limit = (bytes: number): Promise<unknown> => jobs.redis.call('CONFIG', 'SET', 'maxmemory', String(bytes));
  const create = (headers: Record<string, string> = {}): Promise<HttpResponse<ErrorBody>> =>
    service.api.call('create', validInput(), headers);
  const createOnce = (headers: Record<string, string> = {}): Promise<HttpResponse<ErrorBody>> =>
    service.api.callOnce('create', validInput(), headers);

  it('creates are accepted while less than 70 % of the maxmemory of Redis is used', async () => {
    await limit((await used()) * 2);
    expect((await create()).status).toBe(200);
  });

  it.each([
    ['over 70 % of its maxmemory', 1.2],
    ['beyond its maxmemory', 0.5],
  ])('creates are refused with 503 while Redis is %s, and accepted again afterwards', async (_what, factor) => {
    const { body } = await create({ 'Idempotency-Key': 'before' });
    await limit(Math.floor((await used()) * factor));
    await eventually(async () => {
      expectError(await createOnce(), 503, 'SERVICE_UNAVAILABLE');
    }, COUNTED_WITHIN_MS);
    await eventually(async () => {
      const { body: ready } = await service.api.request<ReadyReport>('/health/ready', {});
      expect([ready.status, ready.parts['memory']]).toEqual([
        'degraded',
        expect.stringContaining('creates are refused'),
      ]);
      expect(await metrics()).toContain('item_listing_part_ok{part="memory"} 0');
    });
    const before = await service.database.models.items.countDocuments();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => createOnce(index % 2 === 0 ? {} : ASYNC)),
    );
    for (const response of responses) {
      expectError(response, 503, 'SERVICE_UNAVAILABLE');
      expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
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

  const metrics = (): Promise<string> => service.metrics();
});
