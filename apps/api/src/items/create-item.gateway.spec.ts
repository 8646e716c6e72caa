import type { NewItem } from '@app/contracts';
import type { ItemRepository } from '@app/database';
import type { CreateQueue, ReplySubscriber } from '@app/queue';
import { CreateItemGateway, type CreateTerms, type GatewayOutcome } from './create-item.gateway.js';

const NEVER = new Promise<never>(() => undefined);
const REFUSED = { kind: 'refused', retryAfterS: 1 };
const SIZE = { bytes: 100, heapBytes: 100 };
/** Creates that are being queued at most. */
const AT_ONCE = 16;

function deferred<T>(value: T): { promise: Promise<T>; settle: () => void } {
  let settle = (): void => undefined;
  const promise = new Promise<T>((resolve) => {
    settle = () => {
      resolve(value);
    };
  });
  return { promise, settle };
}

describe('the gateway', () => {
  const find = jest.fn<Promise<undefined>, [string]>();
  const add = jest.fn<Promise<string>, [{ id: string }]>();
  const admit = jest.fn<Promise<undefined>, []>();
  const findStored = jest.fn<Promise<[]>, [string[]]>();
  const findStates = jest.fn<Promise<string[]>, [string[]]>();
  let gateway: CreateItemGateway;
  let created: number;

  beforeEach(() => {
    jest.useFakeTimers();
    jest.resetAllMocks();
    find.mockResolvedValue(undefined);
    add.mockResolvedValue('queued');
    admit.mockResolvedValue(undefined);
    findStored.mockResolvedValue([]);
    findStates.mockImplementation((ids) => Promise.resolve(ids.map(() => 'open')));
    const backlog = { admit, state: () => Promise.resolve() };
    const queue = { find, add, findStates, backlog } as unknown as CreateQueue;
    const replies = { channel: 'replies', listen: () => undefined } as unknown as ReplySubscriber;
    gateway = new CreateItemGateway(queue, replies, { findStored } as unknown as ItemRepository);
    created = 0;
  });
  afterEach(() => {
    gateway.close();
    jest.useRealTimers();
  });

  const create = (terms: Partial<CreateTerms> = {}): Promise<GatewayOutcome> =>
    gateway.create(
      { id: `id-${String(created++)}`, requestHash: '', requestId: '', sellerId: '', item: {} as NewItem },
      {
        isKeyed: false,
        size: SIZE,
        deadline: performance.now() + 10_000,
        queueBy: performance.now() + 10_000,
        respondAsync: false,
        isSame: () => true,
        gone: NEVER,
        ...terms,
      },
    );

  const createMany = (count: number, terms?: Partial<CreateTerms>): Promise<GatewayOutcome>[] =>
    Array.from({ length: count }, () => create(terms));

  const after = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

  it('looks under many keys at the same time while MongoDB is slow', async () => {
    findStored.mockReturnValue(NEVER);
    void createMany(AT_ONCE + 1, { isKeyed: true });
    await after(10);
    expect(findStored).toHaveBeenCalledTimes(AT_ONCE + 1);
    await after(1000);
    expect(add).toHaveBeenCalledTimes(AT_ONCE + 1);
  });

  it('looks under a key in MongoDB after Redis: the item of a job that has left the queue is there', async () => {
    const { promise, settle: answer } = deferred(undefined);
    find.mockReturnValue(promise);
    void create({ isKeyed: true });
    await after(10);
    expect(findStored).not.toHaveBeenCalled();
    answer();
    await after(0);
    expect(findStored).toHaveBeenCalledTimes(1);
  });

  it('queues nothing for a client that disconnects before its turn', async () => {
    const { promise, settle: answer } = deferred('queued');
    add.mockReturnValue(promise);
    void createMany(AT_ONCE);
    const { promise: gone, settle: hangUp } = deferred(undefined);
    const left = create({ gone });
    await after(10);
    hangUp();
    expect(await left).toEqual(REFUSED);
    answer();
    await after(10);
    expect(add).toHaveBeenCalledTimes(AT_ONCE);
  });

  it('queues nothing once the deadline has passed while Redis was asked', async () => {
    const { promise, settle: answer } = deferred(undefined);
    admit.mockReturnValue(promise);
    const late = create({ queueBy: performance.now() + 50 });
    await after(60);
    expect(await late).toEqual(REFUSED);
    answer();
    await after(10);
    expect(add).not.toHaveBeenCalled();
  });

  it('goes on queueing for a client that shares the create of one that has disconnected', async () => {
    const { promise, settle: answer } = deferred(undefined);
    admit.mockReturnValue(promise);
    const { promise: gone, settle: hangUp } = deferred(undefined);
    const left = create({ gone });
    created = 0;
    void create();
    hangUp();
    expect(await left).toEqual(REFUSED);
    answer();
    await after(10);
    expect(add).toHaveBeenCalledTimes(1);
  });

  it('refuses what is not queued yet when the process ends, and leaves the rest open', async () => {
    add.mockReturnValue(NEVER);
    const sent = createMany(AT_ONCE);
    const waiting = create();
    await after(10);
    gateway.abandon();
    await after(1000);
    expect(await waiting).toEqual(REFUSED);
    expect(await Promise.all(sent)).toEqual(sent.map(() => ({ kind: 'unknown' })));
  });

  it('asks a database that does not answer once for all who wait', async () => {
    void createMany(250);
    await after(600);
    findStored.mockClear();
    findStored.mockRejectedValue(new Error('away'));
    await after(250);
    expect(findStored).toHaveBeenCalledTimes(1);
  });

  it('queues again only what MongoDB does not hold', async () => {
    findStates.mockImplementation((ids) => Promise.resolve(ids.map(() => 'missing')));
    findStored.mockRejectedValue(new Error('away'));
    void create();
    await after(5000);
    expect(add).toHaveBeenCalledTimes(1);
    findStored.mockResolvedValue([]);
    await after(250);
    expect(add).toHaveBeenCalledTimes(2);
  });

  it('refuses what would take more than 64 MiB while it waits', async () => {
    const many = createMany(33, { size: { bytes: 60_000, heapBytes: 2 * 1024 * 1024 } });
    await after(10);
    expect(await many.at(-1)).toEqual(REFUSED);
    expect(add).toHaveBeenCalledTimes(32);
  });
});
