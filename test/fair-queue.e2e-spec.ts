import type { ErrorBody, Item } from '@app/contracts';
import { createApiKey } from './support/api-keys.js';
import type { ApiClient, HttpResponse } from './support/api-client.js';
import { eventually } from './support/eventually.js';
import { validInput } from './support/items.js';
import { openQueue } from './support/queue.js';
import { startApi, startService, startWorker, type Service } from './support/service.js';
import { bearer } from './support/token-issuer.js';

const LIMIT = 60;

describe('the create queue of several sellers', () => {
  let service: Service;
  let keys: Record<'large' | 'quiet', string>;

  beforeEach(async () => {
    const env = {
      AUTH_API_KEYS: 'on',
      SELLER_BACKLOG_LIMIT: String(LIMIT),
      WORKER_CONCURRENCY: '5',
      // Creates wait while a worker starts.
      CREATE_WAIT_MS: '60000',
    };
    service = await startService({ env, worker: false });
    const { database } = service;
    keys = { large: await createApiKey(database, 'large'), quiet: await createApiKey(database, 'quiet') };
  });
  afterEach(() => service.stop());

  /** A create with an item that takes much memory until it is stored: 64 bytes for each bracket. */
  const createLarge = (seller: keyof typeof keys): Promise<HttpResponse<ErrorBody>> =>
    service.api.call('create', validInput({ photos: ['['.repeat(60_000)] }), bearer(keys[seller]));
  const queue = (seller: keyof typeof keys, api: ApiClient = service.api): Promise<HttpResponse<ErrorBody>> =>
    api.call('create', validInput(), { ...bearer(keys[seller]), Prefer: 'respond-async' });
  async function queueMany(count: number, api?: ApiClient): Promise<number[]> {
    const statuses: number[] = [];
    for (let queued = 0; queued < count; queued++) statuses.push((await queue('large', api)).status);
    return statuses;
  }
  const stored = (): Promise<Item[]> => service.api.getAll({ pageSize: 100 });

  it("creates beyond SELLER_BACKLOG_LIMIT are rejected with a 429 on every instance, but not other sellers' creates", async () => {
    const second = await startApi(service.env);
    try {
      expect(await queueMany(LIMIT)).toEqual(Array<number>(LIMIT).fill(202));
      for (const api of [service.api, second.api]) {
        const { status, body, headers } = await queue('large', api);
        expect({ status, code: body.code }).toEqual({ status: 429, code: 'TOO_MANY_REQUESTS' });
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
        expect((await queue('quiet', api)).status).toBe(202);
      }
      const worker = await startWorker(service.env);
      await eventually(async () => {
        expect(await stored()).toHaveLength(LIMIT + 2);
      });
      expect((await queue('large')).status).toBe(202);
      await worker.stop();
      expect(await service.metrics()).toContain('item_listing_creates_total{outcome="refused",reason="seller"} 1');
    } finally {
      await second.stop();
    }
  });

  it('an API keeps room in its memory for the creates of another seller', async () => {
    const creates = Array.from({ length: 20 }, () => createLarge('large'));
    expect((await Promise.race(creates)).status).toBe(429);
    const others = Array.from({ length: 3 }, () => createLarge('quiet'));
    const worker = await startWorker(service.env);
    for (const { status } of await Promise.all(others)) expect(status).toBe(200);
    const statuses = (await Promise.all(creates)).map(({ status }) => status);
    expect([...new Set(statuses)].sort()).toEqual([200, 429]);
    await worker.stop();
    expect(await service.metrics()).toContain('item_listing_creates_total{outcome="refused",reason="process"} 0');
  });

  it('creates that Redis loses are requeued, without delaying those of another seller', async () => {
    const creates = Array.from({ length: 50 }, () => service.api.call('create', validInput(), bearer(keys.large)));
    const { queue: jobs, redis, close } = openQueue(service.env);
    const expectQueued = (): Promise<void> =>
      eventually(async () => {
        expect(await jobs.getPrioritizedCount()).toBe(50);
      });
    try {
      await expectQueued();
      await redis.del(await redis.keys(`{${String(service.env['QUEUE_PREFIX'])}}:*`));
      await expectQueued();
    } finally {
      await close();
    }
    expect((await queue('quiet')).status).toBe(202);
    const worker = await startWorker(service.env);
    await Promise.all(creates);
    await eventually(async () => {
      expect(await stored()).toHaveLength(51);
    });
    await worker.stop();
    const order = (await stored()).sort((a, b) => a.publicId - b.publicId).map(({ sellerId }) => sellerId);
    expect(order.indexOf('key:quiet')).toBeLessThan(15);
  });

  it('creates that MongoDB rejects are retried with their priority, and stored once', async () => {
    await queueMany(20);
    const { connection, models } = service.database;
    const jobs = openQueue(service.env);
    await connection.db?.command({ collMod: 'items', validator: { name: 'no such name' } });
    const starting = startWorker(service.env);
    await eventually(async () => {
      expect(await jobs.queue.getDelayedCount()).toBeGreaterThan(0);
    });
    // At once, because jobs are given up after some seconds.
    await connection.db?.command({ collMod: 'items', validator: {} });
    await queue('quiet');
    await eventually(async () => {
      expect(await models.items.countDocuments()).toBe(21);
    });
    await jobs.close();
    await (await starting).stop();
  });
});
