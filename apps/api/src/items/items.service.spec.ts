import {
  ItemRepository,
  type Database,
  type ItemPage,
  type RawItem,
  type ReferenceRepository,
  type SecretRepository,
} from '@app/database';
import { TimeoutError, type ApiConfig } from '@app/runtime';
import { mongo } from 'mongoose';
import { Registry } from 'prom-client';
import { rawItem } from '../../../../test/support/items.js';
import { CreateMetrics } from '../metrics/create-metrics.js';
import type { CreateItemProducer, ProducerOutcome } from './create-item.producer.js';
import { ItemsService, type CreateContext, type CreateResult } from './items.service.js';
import type { MalformedItems } from './malformed-items.js';

const INPUT = { name: 'Bike', price: 1, categoryId: 'bikes' } as Parameters<ItemsService['create']>[0];
const ID = '0123456789abcdef01234567';
/** How long a read may take. */
const READ_WITHIN_MS = 1800;
/** A read that begins so much later in time reaches no deadline. */
const NO_HURRY_MS = 60_000;
const LARGE_ITEM = rawItem({ photos: [Array.from({ length: 10_000 }, () => 1)] });
const MALFORMED_ITEM = rawItem({ stock: NaN });
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

  const create = (idempotencyKey?: string, more: object = {}): Promise<CreateResult> =>
    service.create(Object.assign({ ...INPUT }, more), {
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

  it('a create is counted as refused if MongoDB does not return its category', async () => {
    findCategoryId.mockRejectedValue(new TimeoutError('not read in time'));
    await expect(create()).rejects.toThrow(TimeoutError);
    expect(await counted()).toEqual([{ outcome: 'refused', reason: 'mongodb' }]);
  });

  it('a create is counted as refused if MongoDB does not return the secret of its key', async () => {
    findSecret.mockRejectedValue(new TimeoutError('not read in time'));
    await expect(create('key')).rejects.toThrow(TimeoutError);
    expect(await counted()).toEqual([{ outcome: 'refused', reason: 'mongodb' }]);
  });

  it('a create counts as refused if the user may not read the categories', async () => {
    findCategoryId.mockRejectedValue(new mongo.MongoServerError({ code: 13, message: 'not authorized' }));
    await expect(create()).rejects.toThrow('not authorized');
    expect(await counted()).toEqual([{ outcome: 'refused', reason: 'mongodb' }]);
  });

  it('creates are refused beyond 64 MiB of items, also of those that wait for their category only', async () => {
    findCategoryId.mockReturnValue(new Promise(() => undefined));
    const photos = [Array.from({ length: 16_000 }, () => ({}))];
    let outcome: unknown = 'waits';
    for (let count = 0; count < 100; count++)
      create(undefined, { photos }).catch((error: unknown) => (outcome = error));
    await ticks();
    expect(outcome).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    const [refused] = await counted();
    expect(refused).toEqual({ outcome: 'refused', reason: 'process' });
    expect(findCategoryId.mock.calls.length).toBeGreaterThan(50);
  });

  it('a create counts as failed if an unexpected error prevents it', async () => {
    findCategoryId.mockRejectedValue(new TypeError('unexpected'));
    await expect(create()).rejects.toThrow(TypeError);
    expect(await counted()).toEqual([{ outcome: 'failed', reason: '' }]);
  });

  it.each([
    [REPLAYED, { outcome: 'replayed', reason: '' }],
    [{ kind: 'refused', retryAfterS: 1, reason: 'redis' } as const, { outcome: 'refused', reason: 'redis' }],
  ])('a create whose category is gone is counted as the earlier one with its key: %j', async (earlier, labels) => {
    findEarlier.mockResolvedValue(earlier);
    await create('key').catch(() => undefined);
    expect(await counted()).toEqual([labels]);
  });

  it('a create is not counted if its category does not exist', async () => {
    await expect(create('key')).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    expect(await counted()).toEqual([]);
  });
});

describe('ItemsService.getAll', () => {
  /** The number of queries that have started. None of them ends before the test. */
  let started: number;
  let end: () => void;
  let service: ItemsService;
  beforeEach(() => {
    started = 0;
    const ended = new Promise<[]>((resolve) => {
      end = () => {
        resolve([]);
      };
    });
    const query = (): Promise<[]> => {
      started++;
      return ended;
    };
    const database = {
      findItems: query,
      findFirstItems: () => query().then((items) => ({ items, areAll: true })),
      readAll: query,
      models: { items: {}, favourites: {} },
    };
    service = readerOf(new ItemRepository(database as unknown as Database));
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  const getAll = (input: object): Promise<unknown> =>
    service.getAll(input, {
      receivedAt: performance.now() + NO_HURRY_MS,
      principal: undefined,
      disconnected: undefined,
    });

  it.each<[string, (times: number) => object]>([
    ['favourites', (times) => ({ userId: `reader-${String(times)}` })],
    ['deep pages', (times) => ({ page: 26 + times, pageSize: 20 })],
    ['searches for several words', (times) => ({ search: `red bike${String(times)}` })],
  ])('getAll reads at most two lists of %s at a time, and other lists and items alongside them', async (_, inputOf) => {
    for (let times = 0; times < 10; times++) void getAll(inputOf(times));
    await ticks();
    const ofLists = started;
    void getAll(inputOf(10));
    await ticks();
    expect(started).toBe(ofLists);
    // A search for two words begins with two counts.
    expect(ofLists).toBeLessThanOrEqual(4);
    void getAll({ pageSize: 20 });
    service.getById({ id: ID }, performance.now() + NO_HURRY_MS).catch(() => undefined);
    await ticks();
    expect(started).toBe(ofLists + 2);
    end();
    await ticks();
  });

  it.each([
    ['the largest pages', 100, 1],
    ['pages of 50 items', 50, 2],
    ['small pages', 20, 5],
  ])('getAll reads other pages while MongoDB returns %s late, up to twice as many', async (_, pageSize, atOnce) => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    for (let category = 0; category < 30; category++) void getAll({ categoryId: String(category), pageSize });
    await ticks();
    const counts = [started];
    for (let waited = 0; waited < 2; waited++) {
      await jest.advanceTimersByTimeAsync(100);
      counts.push(started);
    }
    expect(counts).toEqual([atOnce, 2 * atOnce, 2 * atOnce]);
    end();
    await ticks();
  });

  it('getAll returns a list without items while other lists wait for their turn', async () => {
    for (let times = 0; times < 3; times++) void getAll({ userId: `reader-${String(times)}` });
    await ticks();
    const noSuchSlug = 'x'.repeat(1001);
    expect(await getAll({ userId: 'reader', categoryId: noSuchSlug })).toMatchObject({ nextAfter: undefined });
    end();
    await ticks();
  });

  it('getAll refuses an unknown position while other lists wait for their turn', async () => {
    for (let times = 0; times < 3; times++) void getAll({ userId: `reader-${String(times)}` });
    await ticks();
    for (const userId of [undefined, 'reader'])
      await expect(getAll({ userId, after: 'no cursor' })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    end();
    await ticks();
  });

  it('getAll does not hold the text of a category that cannot exist', async () => {
    // Requests that differ are read separately.
    for (const letter of 'ab') void getAll({ categoryId: letter.repeat(1001), after: ID }).catch(() => undefined);
    await ticks();
    expect(started).toBe(1);
    end();
    await ticks();
  });

  it.each<[string, number, (times: number) => object]>([
    ['the largest pages', 1, (times) => ({ categoryId: String(times), pageSize: 100 })],
    ['small pages', 5, (times) => ({ categoryId: String(times), pageSize: 20 })],
    ['deep pages', 2, (times) => ({ page: 11 + times, pageSize: 50 })],
  ])(
    'getAll reads another of %s only while fewer than %d await serialization, however long that takes',
    async (_, most, inputOf) => {
      jest.useFakeTimers({ doNotFake: ['setImmediate'] });
      let [unfinished, mostUnfinished] = [0, 0];
      const findPage = (): Promise<ItemPage> => {
        mostUnfinished = Math.max(mostUnfinished, ++unfinished);
        return Promise.resolve({
          items: [...Array<RawItem>(10).fill(LARGE_ITEM), MALFORMED_ITEM],
          nextAfter: undefined,
        });
      };
      // The malformed item is the last one of its page.
      const report = (): unknown => unfinished--;
      const findPart = (_userId: undefined, range: object): Promise<object> => Promise.resolve({ range });
      service = readerOf({ findPart, findPage } as unknown as ItemRepository, { report } as unknown as MalformedItems);
      const reading = Promise.all(Array.from({ length: 12 }, (__, times) => getAll(inputOf(times))));
      for (let waited = 0; waited < 100; waited++) {
        await ticks();
        jest.advanceTimersByTime(100);
      }
      await reading;
      expect([unfinished, mostUnfinished]).toEqual([0, most]);
    },
  );
});

describe('ItemsService.getById', () => {
  const findById = jest.fn<Promise<RawItem | undefined>, []>();
  let service: ItemsService;

  beforeEach(() => {
    jest.resetAllMocks();
    service = readerOf({ findById } as unknown as ItemRepository);
  });

  /** Requests several items that are read at the same time. Returns when each was serialized, and other work ran. */
  const readAtOnce = async (item: RawItem): Promise<string[]> => {
    findById.mockResolvedValue(item);
    const order: string[] = [];
    const reading = [1, 2, 3].map(async () => {
      await service.getById({ id: ID }, performance.now() + NO_HURRY_MS);
      order.push('item');
    });
    const otherWork = (): void => {
      order.push('other work');
      if (order.length < 6) setImmediate(otherWork);
    };
    setImmediate(otherWork);
    await Promise.all(reading);
    return order;
  };

  it('getById runs other work between the serialization of large items', async () => {
    expect(await readAtOnce(LARGE_ITEM)).toEqual(['other work', 'item', 'other work', 'item', 'other work', 'item']);
  });

  it('getById serializes items that are not large at once', async () => {
    expect(await readAtOnce(rawItem())).toEqual(['item', 'item', 'item']);
  });

  it('getById serializes no large item whose turn does not come before its deadline', async () => {
    findById.mockResolvedValue(LARGE_ITEM);
    const now = performance.now();
    const first = service.getById({ id: ID }, now + NO_HURRY_MS);
    const second = service.getById({ id: ID }, now - READ_WITHIN_MS + 200).catch((error: unknown) => error);
    await first;
    while (performance.now() < now + 300);
    expect(await second).toBeInstanceOf(TimeoutError);
  });
});

/** Returns a service that only reads. */
function readerOf(items: ItemRepository, malformed = {} as MalformedItems): ItemsService {
  return new ItemsService(
    items,
    {} as ReferenceRepository,
    {} as CreateItemProducer,
    {} as SecretRepository,
    malformed,
    new CreateMetrics(new Registry()),
    { publicSiteUrl: '' } as ApiConfig,
  );
}

/** Waits until everything that waits for nothing else has run. */
async function ticks(): Promise<void> {
  for (let times = 0; times < 5; times++) await new Promise((resolve) => setImmediate(resolve));
}
