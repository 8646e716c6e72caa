import type { ErrorBody } from '@app/contracts';
import { Redis } from 'ioredis';
import type { ApiClient, HttpResponse } from './support/api-client.js';
import {
  createRedis,
  removeDatabaseServers,
  startRedis,
  startRedisCluster,
  type DatabaseServer,
} from './support/database-servers.js';
import { eventually } from './support/eventually.js';
import { EMPTY_LIST, validInput } from './support/items.js';
import { startApi, startService, type Service } from './support/service.js';
import { AUDIENCE, bearer, ISSUER, signWithSecret } from './support/token-issuer.js';

const MAX_BYTES_PER_KEY = 200;
const SECRET = 'a secret of at least 256 bits for these tests';

describe('the Redis of rate limits', () => {
  let redis: DatabaseServer;
  let service: Service;
  let inspect: Redis;
  let second: { api: ApiClient; stop: () => Promise<void> };

  beforeAll(async () => {
    redis = await createRedis();
    await startRedis(redis);
    const limits = { RATE_LIMIT_CREATE: '5/3600', RATE_LIMIT_GETALL: '5/3600', CREATE_WAIT_MS: '60000' };
    service = await startService({ env: { ...limits, RATE_LIMIT_REDIS_URL: redis.url, TRUST_PROXY: 'loopback' } });
    second = await startApi(service.env);
    inspect = new Redis(redis.url, { lazyConnect: true, maxRetriesPerRequest: null });
    inspect.on('error', () => undefined);
    await inspect.connect();
  });
  afterAll(async () => {
    inspect.disconnect();
    await second.stop();
    await service.stop();
    await removeDatabaseServers();
  });

  let addresses = 0;
  const newAddress = (): string => `198.51.100.${String(++addresses)}`;
  const call = (operation: string, address: string, api = service.api): Promise<HttpResponse<ErrorBody>> =>
    api.callOnce(operation, operation === 'create' ? validInput() : EMPTY_LIST, { 'X-Forwarded-For': address });
  const health = async (): Promise<object> => (await service.api.request<object>('/health/ready', {})).body;

  it('the Redis of rate limits holds one small key for each caller and limit, which says nothing about the caller', async () => {
    const prefix = `{${String(service.env['QUEUE_PREFIX'])}}`;
    const expected = ['create', 'getAll'].map((name) => `${prefix}:limit:${name}:requests:3600:`);
    // A request is not counted in Redis if it takes too long.
    const keys = await eventually(async () => {
      await inspect.flushall();
      const network = `2001:db8:0:${String(++addresses)}`;
      await call('getAll', `${network}::1`);
      await call('getAll', `${network}::2`);
      await call('create', `${network}::3`);
      const stored = await inspect.keys('*');
      expect(stored.map((key) => key.slice(0, -22)).sort()).toEqual(expected);
      return stored;
    });
    for (const key of keys) {
      expect(await inspect.memory('USAGE', key)).toBeLessThan(MAX_BYTES_PER_KEY);
      expect(await inspect.ttl(key)).toBeGreaterThan(3500);
    }
  });

  it('a value that another program has written for one caller is replaced, and does not affect others', async () => {
    const [caller, other] = [newAddress(), newAddress()];
    await inspect.flushall();
    expect((await call('create', caller)).status).toBe(200);
    const [key] = await eventually(async () => {
      const keys = await inspect.keys('*:limit:create:*');
      expect(keys).toHaveLength(1);
      return keys as [string];
    });
    await inspect.set(key, 'not a number', 'EX', 600);
    // The other instance has not counted them yet.
    expect((await call('create', caller, second.api)).status).toBe(200);
    expect((await call('create', other, second.api)).status).toBe(200);
    expect(await inspect.get(key)).toBe('1');
  });

  it('Redis names sellers by digests only, for their limits and for their shares of the queue', async () => {
    await inspect.flushall();
    const auth = { AUTH_JWT_SECRET: SECRET, AUTH_ISSUER: ISSUER, AUTH_AUDIENCE: AUDIENCE };
    // No worker takes the jobs of this API.
    const env = { ...service.env, ...auth, REDIS_URL: redis.url, QUEUE_PREFIX: 'of-sellers' };
    const { api, stop } = await startApi(env);
    try {
      const headers = { ...bearer(signWithSecret(SECRET)), Prefer: 'respond-async' };
      expect((await api.call('getAll', {}, headers)).status).toBe(200);
      expect((await api.call('create', validInput(), headers)).status).toBe(202);
      const keys = await inspect.keys('*');
      const limits = keys.filter((key) => key.includes(':limit:')).map((key) => key.slice(0, -22));
      expect(limits.sort()).toEqual([
        '{of-sellers}:limit:create:requests:3600:',
        '{of-sellers}:limit:getAll:requests:3600:',
      ]);
      // The empty name is that of the virtual time.
      const shares = keys.filter((key) => key.endsWith(':sellers'));
      const sellers = await Promise.all(shares.map((key) => inspect.zrange(key, 0, -1)));
      expect(sellers).toEqual([['', expect.stringMatching(/^[\w-]{22}$/)]]);
      expect(JSON.stringify([keys, sellers])).not.toContain('alice');
    } finally {
      await stop();
    }
  });

  describe.each(['killed', 'stopped'])('while it is %s', (how) => {
    it('reads are limited in each instance, and creates refused, while the Redis of rate limits is unavailable', async () => {
      const address = newAddress();
      if (how === 'killed') await redis.kill();
      else await redis.pause();
      const since = performance.now();
      const { status, headers, body } = await call('create', address);
      expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'SERVICE_UNAVAILABLE', '1']);
      expect(performance.now() - since).toBeLessThan(2000);
      await eventually(async () => {
        expect(await health()).toEqual({
          status: 'degraded',
          parts: {
            mongodb: 'ok',
            redis: 'ok',
            rateLimits: 'Redis of rate limits is unavailable: requests cannot be counted',
          },
        });
      });
      for (const api of [service.api, second.api]) {
        const statuses: number[] = [];
        for (let count = 0; count < 7; count++) statuses.push((await call('getAll', address, api)).status);
        expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
      }
      if (how === 'killed') await startRedis(redis);
      else redis.resume();
      await eventually(async () => {
        expect((await call('create', newAddress())).status).toBe(200);
      });
      await eventually(async () => {
        expect(await health()).toMatchObject({ status: 'ready', parts: { rateLimits: 'ok' } });
      });
      await eventually(async () => {
        expect((await call('getAll', newAddress())).headers.get('ratelimit')).toContain('r=4');
        expect(await inspect.dbsize()).toBeGreaterThan(1);
      });
    });
  });

  it('the Redis of rate limits may be a Cluster', async () => {
    const { url } = await startRedisCluster();
    const api = await startApi({ ...service.env, RATE_LIMIT_REDIS_URL: url });
    try {
      // A create that gets a 503 may have been counted.
      await eventually(async () => {
        const [address, statuses]: [string, number[]] = [newAddress(), []];
        for (let count = 0; count < 6; count++) statuses.push((await call('create', address, api.api)).status);
        expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
      });
    } finally {
      await api.stop();
    }
  });
});
