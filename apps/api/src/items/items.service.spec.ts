import type { ItemRepository, ReferenceRepository, SecretRepository } from '@app/database';
import { TimeoutError, type ApiConfig } from '@app/runtime';
import { Registry } from 'prom-client';
import { CreateMetrics } from '../metrics/create-metrics.js';
import type { CreateItemProducer, ProducerOutcome } from './create-item.producer.js';
import { ItemsService, type CreateContext, type CreateResult } from './items.service.js';
import type { MalformedItems } from './malformed-items.js';

const INPUT = { name: 'Bike', price: 1, categoryId: 'bikes' } as Parameters<ItemsService['create']>[0];
const REPLAYED = { kind: 'created', item: { path: '/a' }, isReplay: true } as ProducerOutcome;

describe('ItemsService.create', () => {
  const findCategoryId = jest.fn<Promise<number | null>, []>();
  const findSecret = jest.fn<Promise<string>, []>();
  const findEarlier = jest.fn<Promise<ProducerOutcome | undefined>, []>();
  let registry: Registry;
  let service: ItemsService;

  beforeEach(() => {
    jest.resetAllMocks();
    registry = new Registry();
    service = new ItemsService(
      {} as ItemRepository,
      { findCategoryId } as unknown as ReferenceRepository,
      { findEarlier } as unknown as CreateItemProducer,
      { findOrCreate: findSecret } as unknown as SecretRepository,
      {} as MalformedItems,
      new CreateMetrics(registry),
      { maxItemBytes: 65_536, createWaitMs: 10_000, publicSiteUrl: '' } as ApiConfig,
    );
    findCategoryId.mockResolvedValue(null);
    findSecret.mockResolvedValue('secret');
  });

  const create = (idempotencyKey?: string): Promise<CreateResult> =>
    service.create(INPUT, {
      idempotencyKey,
      sellerId: 'a',
      receivedAt: performance.now(),
      preferences: { respondAsync: false },
    } as Partial<CreateContext> as CreateContext);
  const counted = async (): Promise<unknown[]> => {
    const { values } =
      (await registry.getMetricsAsJSON()).find(({ name }) => name === 'item_listing_creates_total') ?? {};
    return (values ?? []).filter(({ value }) => value > 0).map(({ labels }) => labels);
  };

  it('counts a create as refused if MongoDB does not return its category', async () => {
    findCategoryId.mockRejectedValue(new TimeoutError('not read in time'));
    await expect(create()).rejects.toThrow(TimeoutError);
    expect(await counted()).toEqual([{ outcome: 'refused', reason: 'mongodb' }]);
  });

  it('counts a create as refused if MongoDB does not return the secret of its key', async () => {
    findSecret.mockRejectedValue(new TimeoutError('not read in time'));
    await expect(create('key')).rejects.toThrow(TimeoutError);
    expect(await counted()).toEqual([{ outcome: 'refused', reason: 'mongodb' }]);
  });

  it.each([
    [REPLAYED, { outcome: 'replayed', reason: '' }],
    [{ kind: 'refused', retryAfterS: 1, reason: 'redis' } as const, { outcome: 'refused', reason: 'redis' }],
  ])('counts what became of the earlier create of a key whose category is gone: %j', async (earlier, labels) => {
    findEarlier.mockResolvedValue(earlier);
    await create('key').catch(() => undefined);
    expect(await counted()).toEqual([labels]);
  });

  it('does not count a create whose category does not exist', async () => {
    await expect(create('key')).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    expect(await counted()).toEqual([]);
  });
});
