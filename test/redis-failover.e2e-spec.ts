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

  const waits = async ({ metrics }: RunningApi): Promise<string[]> =>
    (await metrics()).split('\n').filter((line) => /^item_listing_create_waits_total.* [1-9]/.test(line));

  it('the replies of a worker reach APIs that have connected before and after a failover of Redis', async () => {
    await service.api.create(validInput());
    await redis.failOver();
    await eventually(() => service.api.create(validInput()));
    later = await startApi(service.env);
    for (let count = 0; count < 5; count += 1) await later.api.create(validInput());
    expect(await waits(later)).toEqual(['item_listing_create_waits_total{end="reply"} 5']);
  });
});
