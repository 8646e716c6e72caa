import { Redis } from 'ioredis';
import { createRedis, removeDatabaseServers, startRedis } from '../support/database-servers.js';
import { startService, type Service } from '../support/service.js';

/** The keys of one limit and instance within one window, see `new-windows.ts`. */
const MAX_KEYS = 10_000;
const MAX_BYTES_PER_KEY = 200;
const CLIENTS = 64;
const LIMIT = 5;

/** Declares the test of a caller that uses this many addresses, of which every hundredth exceeds its limit. */
export function describeManyAddresses(count: number): void {
  describe('a caller with many addresses', () => {
    let service: Service;
    let redis: Redis;

    beforeAll(async () => {
      const server = await createRedis();
      await startRedis(server);
      const limits = { RATE_LIMIT_GETALL: `${String(LIMIT)}/3600`, RATE_LIMIT_REDIS_URL: server.url };
      // About as long as the default, because it is part of each key.
      const QUEUE_PREFIX = 'many-addresses';
      service = await startService({ worker: false, env: { ...limits, QUEUE_PREFIX, TRUST_PROXY: 'loopback' } });
      redis = new Redis(server.url);
    });
    afterAll(async () => {
      redis.disconnect();
      await service.stop();
      await removeDatabaseServers();
    });

    // The request is counted before its body is read, which spares MongoDB thousands of reads.
    const send = async (address: string): Promise<number> =>
      (await service.api.post('/api/orpc/items/getAll', '{', { 'X-Forwarded-For': address })).status;
    const usedMemory = async (): Promise<number> => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);

    it('a caller with many addresses does not fill the Redis of rate limits, and is limited for each address all the same', async () => {
      const before = await usedMemory();
      const limited = new Set<number>();
      let next = 0;
      const client = async (): Promise<void> => {
        while (next < count) {
          const index = next++;
          const address = `2001:db8:1:${index.toString(16)}::1`;
          const requests = index % 100 === 0 ? LIMIT + 1 : 1;
          for (let request = 0; request < requests; request++) if ((await send(address)) === 429) limited.add(index);
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      expect(await redis.dbsize()).toBeLessThanOrEqual(Math.min(count, MAX_KEYS));
      expect((await usedMemory()) - before).toBeLessThan(MAX_KEYS * MAX_BYTES_PER_KEY);
      expect(limited.size).toBe(count / 100);
    });
  });
}
