import type { ItemWithoutUrl, NewItem } from '@app/contracts';
import type { ItemRepository, StoredCreate } from '@app/database';
import type { Admission, CreateQueue, EnqueueResult, ExistingJob, ReplySubscriber } from '@app/queue';
import { withDeadline } from '@app/runtime';
import { Registry } from 'prom-client';
import { CreateMetrics } from '../metrics/create-metrics.js';
import { CreateItemProducer, type ProducerOptions, type ProducerOutcome } from './create-item.producer.js';

const NEVER = new Promise<never>(() => undefined);
const REFUSED = { kind: 'refused', retryAfterS: 1, reason: 'time' };
const ADMITTED: Admission = { kind: 'admitted', priority: undefined };
const SIZE = { bytes: 100, heapBytes: 100 };
const UNREADABLE: ExistingJob = { requestHash: undefined, hasFailed: true, data: 'not JSON' };
/** The most creates that are queued concurrently. */
const MAX_QUEUEING = 16;

function deferred<T>(value: T): { promise: Promise<T>; settle: () => void } {
  let settle = (): void => undefined;
  const promise = new Promise<T>((resolve) => {
    settle = () => {
      resolve(value);
    };
  });
  return { promise, settle };
}

describe('CreateItemProducer', () => {
  const find = jest.fn<Promise<ExistingJob | undefined>, [string]>();
  const add = jest.fn<Promise<string>, [{ id: string }]>();
  const replace = jest.fn<Promise<EnqueueResult>, [ExistingJob]>();
  const admit = jest.fn<Promise<Admission>, []>();
  const findStored = jest.fn<Promise<StoredCreate[]>, [string[], deadline: number]>();
  const findStoredById = async (id: string, deadline: number): Promise<StoredCreate | undefined> =>
    (await findStored([id], deadline))[0];
  const findRequestHash = jest.fn<Promise<string | undefined>, [id: string, deadline: number]>();
  const findStates = jest.fn<Promise<string[]>, [string[]]>();
  let producer: CreateItemProducer;
  let created: number;
  let registry: Registry;

  beforeEach(() => {
    jest.useFakeTimers();
    jest.resetAllMocks();
    find.mockResolvedValue(undefined);
    add.mockResolvedValue('queued');
    admit.mockResolvedValue(ADMITTED);
    findStored.mockResolvedValue([]);
    findRequestHash.mockImplementation(async (id, deadline) => (await findStoredById(id, deadline))?.requestHash);
    findStates.mockImplementation((ids) => Promise.resolve(ids.map(() => 'open')));
    const backlog = { state: () => Promise.resolve() };
    const queue = {
      find,
      add,
      addAgain: add,
      replace,
      admit,
      release: () => undefined,
      findStates,
      findLost: () => Promise.resolve([]),
      backlog,
    } as unknown as CreateQueue;
    const replies = { channel: 'replies', listen: () => undefined } as unknown as ReplySubscriber;
    const items = { findStored, findStoredById, findRequestHash } as unknown as ItemRepository;
    registry = new Registry();
    producer = new CreateItemProducer(queue, replies, items, new CreateMetrics(registry));
    created = 0;
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const create = (options: Partial<ProducerOptions> = {}): Promise<ProducerOutcome> =>
    producer.create(
      { id: `id-${String(created++)}`, requestHash: '', requestId: '', sellerId: '', item: {} as NewItem },
      {
        isKeyed: false,
        size: SIZE,
        deadline: performance.now() + 10_000,
        queueBy: performance.now() + 10_000,
        respondAsync: false,
        isSame: () => true,
        disconnected: NEVER,
        ...options,
      },
    );

  const createMany = (count: number, options?: Partial<ProducerOptions>): Promise<ProducerOutcome>[] =>
    Array.from({ length: count }, () => create(options));

  const after = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

  it('a producer looks up many keys concurrently while MongoDB is slow', async () => {
    findStored.mockImplementation((_ids, deadline) => withDeadline(deadline, NEVER));
    void createMany(MAX_QUEUEING + 1, { isKeyed: true });
    await after(10);
    expect(findStored).toHaveBeenCalledTimes(MAX_QUEUEING + 1);
    await after(1000);
    expect(add).toHaveBeenCalledTimes(MAX_QUEUEING + 1);
  });

  it('a producer looks up a key in MongoDB after Redis, because a job that has left the queue has its item there', async () => {
    const { promise, settle: respond } = deferred(undefined);
    find.mockReturnValue(promise);
    void create({ isKeyed: true });
    await after(10);
    expect(findStored).not.toHaveBeenCalled();
    respond();
    await after(0);
    expect(findStored).toHaveBeenCalledTimes(1);
  });

  it('a producer does not read the item of another request, which may be much larger', async () => {
    findRequestHash.mockResolvedValue('another');
    const creating = create({ isKeyed: true, isSame: (hash) => hash !== 'another' });
    await after(10);
    expect(await creating).toEqual({ kind: 'conflict' });
    expect(findStored).not.toHaveBeenCalled();
  });

  it('a producer queues nothing for a client that disconnects before its turn comes', async () => {
    const { promise, settle: respond } = deferred('queued');
    add.mockReturnValue(promise);
    void createMany(MAX_QUEUEING);
    const { promise: disconnected, settle: disconnect } = deferred(undefined);
    const left = create({ disconnected });
    await after(10);
    disconnect();
    expect(await left).toEqual({ ...REFUSED, reason: 'disconnected' });
    respond();
    await after(10);
    expect(add).toHaveBeenCalledTimes(MAX_QUEUEING);
  });

  it('a producer queues nothing if the deadline has passed when it gets the request', async () => {
    expect(await create({ queueBy: performance.now() - 1 })).toEqual(REFUSED);
    expect(add).not.toHaveBeenCalled();
  });

  it('a producer queues nothing if the deadline passes while it waits for Redis', async () => {
    const { promise, settle: respond } = deferred(ADMITTED);
    admit.mockReturnValue(promise);
    const late = create({ queueBy: performance.now() + 50 });
    await after(60);
    expect(await late).toEqual(REFUSED);
    respond();
    await after(10);
    expect(add).not.toHaveBeenCalled();
  });

  describe('if the job under its key is unreadable', () => {
    beforeEach(() => {
      find.mockResolvedValue(UNREADABLE);
    });

    it('a producer refuses a create whose key has an unreadable job only if Redis has not replaced that job', async () => {
      replace.mockResolvedValue('refused');
      expect(await create({ isKeyed: true })).toEqual({ ...REFUSED, reason: 'redis' });
      replace.mockResolvedValue('unknown');
      const sent = create({ isKeyed: true, deadline: performance.now() + 1000 });
      await after(1000);
      expect(await sent).toEqual({ kind: 'unknown' });
      expect(replace).toHaveBeenCalledTimes(2);
      expect(add).not.toHaveBeenCalled();
    });

    it('a producer does not replace an unreadable job after the deadline', async () => {
      const { promise, settle: respond } = deferred(undefined);
      findStored.mockReturnValue(promise.then(() => []));
      const late = create({ isKeyed: true, queueBy: performance.now() + 50 });
      await after(60);
      respond();
      await after(10);
      expect(await late).toEqual(REFUSED);
      expect(replace).not.toHaveBeenCalled();
    });
  });

  it('a producer still queues a create if only one of the clients that share it disconnects', async () => {
    const { promise, settle: respond } = deferred(ADMITTED);
    admit.mockReturnValue(promise);
    const { promise: disconnected, settle: disconnect } = deferred(undefined);
    const left = create({ disconnected });
    created = 0;
    void create();
    disconnect();
    expect(await left).toEqual({ ...REFUSED, reason: 'disconnected' });
    respond();
    await after(10);
    expect(add).toHaveBeenCalledTimes(1);
  });

  it('a producer refuses creates not queued yet when the process ends, and returns unknown for the others', async () => {
    add.mockReturnValue(NEVER);
    const sent = createMany(MAX_QUEUEING);
    const waiting = create();
    await after(10);
    producer.abandon();
    await after(1000);
    expect(await waiting).toEqual(REFUSED);
    expect(await Promise.all(sent)).toEqual(sent.map(() => ({ kind: 'unknown' })));
  });

  it('a producer queues nothing for a request that arrives after all waits have ended', async () => {
    producer.abandon();
    const late = create();
    await after(10_000);
    expect(await late).toEqual(REFUSED);
    expect(add).not.toHaveBeenCalled();
  });

  it('a producer returns soon after its time if Redis hangs when a client that asked for a 202 has waited', async () => {
    const [deadline, startedAt] = [performance.now() + 4000, performance.now()];
    const creating = create({ isKeyed: true, respondAsync: true, deadline, queueBy: deadline });
    const duration = creating.then(() => performance.now() - startedAt);
    await after(3800);
    find.mockReturnValue(NEVER);
    await after(10_000);
    expect(await duration).toBeLessThan(4500);
  });

  it('a producer looks up a key of a create that is not valid anymore within its time, even if Redis hangs', async () => {
    find.mockReturnValue(NEVER);
    const startedAt = performance.now();
    const options = { isSame: () => true, respondAsync: false, queueBy: startedAt + 600 };
    const finding = producer.findEarlier('id', options).then(() => performance.now() - startedAt);
    await after(10_000);
    expect(await finding).toBeLessThanOrEqual(650);
  });

  it('a producer does not call the first create a replay if its item is found only after the deadline', async () => {
    const stored = { id: 'id-0', requestHash: '', item: {} as ItemWithoutUrl };
    const creating = create({ isKeyed: true, deadline: performance.now() + 300 });
    await after(200);
    findStored.mockResolvedValue([stored]);
    await after(1000);
    expect(await creating).toEqual({ kind: 'created', item: stored.item, isReplay: false });
  });

  describe('the end of a wait', () => {
    const ends = async (): Promise<unknown> => {
      const { values } = (await registry.getSingleMetric('item_listing_create_waits_total')?.get()) ?? { values: [] };
      return values.filter(({ value }) => value > 0).map(({ labels, value }) => [labels['end'], value]);
    };

    it('a wait counts as a look-up if the item was found in MongoDB', async () => {
      const creating = create();
      await after(10);
      findStored.mockResolvedValue([{ id: 'id-0', requestHash: '', item: {} as ItemWithoutUrl }]);
      await after(1000);
      expect(await creating).toMatchObject({ kind: 'created' });
      expect(await ends()).toEqual([['look-up', 1]]);
    });

    it('a wait counts as the deadline if nothing ended it before', async () => {
      const creating = create({ deadline: performance.now() + 1000 });
      await after(1000);
      expect(await creating).toEqual({ kind: 'unknown' });
      expect(await ends()).toEqual([['deadline', 1]]);
    });

    it('a wait counts as abandoned if its client disconnects or the process ends', async () => {
      const { promise: disconnected, settle: disconnect } = deferred(undefined);
      const creating = [create({ disconnected }), create()];
      await after(10);
      disconnect();
      await after(10);
      expect(await ends()).toEqual([['abandoned', 1]]);
      producer.abandon();
      await Promise.all(creating);
      expect(await ends()).toEqual([['abandoned', 2]]);
    });
  });

  it('a producer queries an unavailable database once for all waiting creates', async () => {
    void createMany(250);
    await after(600);
    findStored.mockClear();
    findStored.mockRejectedValue(new Error('unavailable'));
    await after(250);
    expect(findStored).toHaveBeenCalledTimes(1);
  });

  it('a producer queues a lost job again only if MongoDB does not have its item', async () => {
    findStates.mockImplementation((ids) => Promise.resolve(ids.map(() => 'missing')));
    findStored.mockRejectedValue(new Error('unavailable'));
    void create();
    await after(5000);
    expect(add).toHaveBeenCalledTimes(1);
    findStored.mockResolvedValue([]);
    await after(250);
    expect(add).toHaveBeenCalledTimes(2);
  });

  it('a producer queues a lost job again as soon as there is room in the queue', async () => {
    findStates.mockImplementation((ids) => Promise.resolve(ids.map(() => 'missing')));
    admit.mockResolvedValueOnce(ADMITTED).mockResolvedValueOnce({ kind: 'refused', reason: 'jobs', retryAfterS: 1 });
    void create();
    await after(3000);
    expect(admit).toHaveBeenCalledTimes(2);
    expect(add).toHaveBeenCalledTimes(1);
    await after(2500);
    expect(add).toHaveBeenCalledTimes(2);
  });
});
