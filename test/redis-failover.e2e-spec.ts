import { removeDatabaseServers } from './support/database-servers.js';
import { eventually } from './support/eventually.js';
import { validInput } from './support/items.js';
import { startBehindOneAddress } from './support/replicated-redis.js';
import { startApi, startService, type RunningApi, type Service } from './support/service.js';

describe('a failover behind the address of a single Redis', () => {
  let redis: Awaited<ReturnType<typeof startBehindOneAddress>>;
  let service: Service;
  let later: RunningApi | undefined;
  beforeAll(async () => {
    redis = await startBehindOneAddress();
    service = await startService({ env: { REDIS_URL: redis.url } });
  });
  afterAll(async () => {
    await later?.stop();
    await service.stop();
    redis.close();
    await removeDatabaseServers();
  });

  /** Returns how many creates have been ended by a reply. */
  const replied = async ({ metrics }: RunningApi): Promise<number> =>
    Number(/^item_listing_create_waits_total\{end="reply"\} (\d+)$/m.exec(await metrics())?.[1]);
  /** Waits until a reply ends a create. On a busy machine, a look-up may do so before. */
  const expectReply = (one: RunningApi): Promise<void> =>
    eventually(async () => {
      const before = await replied(one);
      await one.api.create(validInput());
      expect(await replied(one)).toBe(before + 1);
    });

  it('the replies of a worker reach APIs that have connected before and after a failover of Redis', async () => {
    await service.api.create(validInput());
    await redis.failOver();
    await expectReply(service);
    later = await startApi(service.env);
    await expectReply(later);
  });
});
