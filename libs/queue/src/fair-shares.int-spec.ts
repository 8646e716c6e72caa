import { randomUUID } from 'node:crypto';
import { Queue, Worker, type Job } from 'bullmq';
import { patient } from '../../../test/support/patient.js';
import { FairShares } from './fair-shares.js';
import { connectRedis, untilReady, type RedisConnection } from './redis.js';

const TOTAL = { jobs: 1000, bytes: 1_000_000 };
const SELLER = { jobs: 500, bytes: 500_000 };

describe('fair shares', () => {
  let redis: RedisConnection;
  let blocking: RedisConnection;
  let queue: Queue;
  let worker: Worker;
  const report = jest.fn<undefined, [line: string]>();
  beforeAll(async () => {
    [redis, blocking] = (['producer', 'worker'] as const).map((role) =>
      patient(connectRedis(process.env['REDIS_URL'] ?? '', role, () => undefined)),
    ) as [RedisConnection, RedisConnection];
    await Promise.all([redis, blocking].map(untilReady));
  });
  beforeEach(() => {
    const prefix = `{test-${randomUUID()}}`;
    queue = new Queue('create', { connection: redis, prefix });
    worker = new Worker('create', null, { connection: blocking, prefix, autorun: false });
  });
  afterEach(async () => {
    await worker.close();
    await queue.obliterate({ force: true });
    await queue.close();
  });
  afterAll(() => {
    redis.disconnect();
    blocking.disconnect();
  });

  const sharesOf = (seller = SELLER, total = TOTAL): FairShares =>
    new FairShares(redis, (name) => queue.toKey(name), { seller, total }, report);
  /** Adds jobs of a seller as the API does. Returns how many there was room for. */
  async function add(shares: FairShares, seller: string, count: number, bytes = 1): Promise<number> {
    const places = await Promise.all(Array.from({ length: count }, () => shares.place(seller, bytes)));
    const admitted = places.filter((place) => place !== undefined);
    for (const { priority } of admitted) await queue.add(seller, {}, { priority });
    return admitted.length;
  }
  /** Takes jobs and completes them. Returns their sellers. */
  async function take(count: number): Promise<string[]> {
    const sellers: string[] = [];
    for (let taken = 0; taken < count; taken++) {
      const job = (await worker.getNextJob('token', { block: false })) as Job | undefined;
      if (!job) break;
      sellers.push(job.name);
      await job.moveToCompleted(undefined, 'token', false);
    }
    return sellers;
  }
  const countOf = (seller: string, sellers: string[]): number => sellers.filter((each) => each === seller).length;

  it('fair shares admit a job that is larger than the limit of its seller if the seller has no other', async () => {
    const shares = sharesOf();
    expect(await add(shares, 'large', 1, SELLER.bytes + 1)).toBe(1);
    expect(await add(shares, 'large', 1, SELLER.bytes + 1)).toBe(0);
    expect(await take(1)).toEqual(['large']);
    expect(await add(shares, 'large', 1, SELLER.bytes + 1)).toBe(1);
  });

  it('fair shares put the job of a quiet seller before almost all jobs of one that has many', async () => {
    const shares = sharesOf();
    await add(shares, 'large', 200);
    await take(20);
    await add(shares, 'quiet', 1);
    expect(await take(5)).toContain('quiet');
  });

  it('fair shares alternate between sellers that all have many jobs', async () => {
    const shares = sharesOf();
    for (const seller of ['a', 'b', 'c']) await add(shares, seller, 60);
    const taken = await take(90);
    for (const seller of ['a', 'b', 'c']) expect(countOf(seller, taken)).toBeGreaterThanOrEqual(27);
  });

  it('fair shares keep the jobs of each seller in order, and starve nobody', async () => {
    const shares = sharesOf();
    await add(shares, 'large', 100);
    const taken: string[] = [];
    // Others keep coming, each for the first time.
    for (let round = 0; round < 50; round++) {
      await add(shares, `quiet ${String(round)}`, 1);
      taken.push(...(await take(2)));
    }
    expect(countOf('large', taken)).toBeGreaterThanOrEqual(45);
  });

  it('fair shares limit the jobs of a seller that wait, and make room as they are taken', async () => {
    const shares = sharesOf({ jobs: 40, bytes: 500_000 });
    expect(await add(shares, 'large', 50)).toBe(40);
    expect(await add(shares, 'large', 1)).toBe(0);
    expect(await add(shares, 'quiet', 1)).toBe(1);
    await take(21);
    expect(await add(shares, 'large', 50)).toBeGreaterThanOrEqual(15);
  });

  it('fair shares have room again if a place is released', async () => {
    const shares = sharesOf({ jobs: 40, bytes: 500_000 });
    expect(await add(shares, 'large', 39)).toBe(39);
    await shares.place('large', 1);
    expect(await add(shares, 'large', 1)).toBe(0);
    await shares.release('large', 1);
    expect(await add(shares, 'large', 2)).toBe(1);
    await shares.release('unknown', 1);
    expect(await redis.zcard(queue.toKey('sellers'))).toBe(2);
  });

  it('fair shares limit the bytes of a seller that wait', async () => {
    const shares = sharesOf({ jobs: 500, bytes: 1000 });
    expect(await add(shares, 'large', 20, 100)).toBe(10);
  });

  it('fair shares leave room for others, however many sellers have many jobs', async () => {
    const shares = sharesOf({ jobs: 1000, bytes: 1_000_000 }, { jobs: 120, bytes: 1_000_000 });
    const admitted: number[] = [];
    for (const seller of ['a', 'b', 'c']) {
      let count = 0;
      while ((await add(shares, seller, 1)) === 1) count++;
      admitted.push(count);
    }
    expect(admitted).toEqual([60, 30, 15]);
    expect(await add(shares, 'quiet', 5)).toBe(5);
  });

  it('fair shares start again once the queue is empty', async () => {
    const shares = sharesOf({ jobs: 10, bytes: 500_000 });
    expect(await add(shares, 'large', 20)).toBe(10);
    expect(await take(20)).toHaveLength(10);
    expect(await shares.place('large', 1)).toEqual({ priority: 1, ahead: 0 });
    expect(await redis.zcard(queue.toKey('sellers'))).toBe(2);
  });

  it('fair shares forget sellers whose jobs are done, so that many of them do not fill Redis', async () => {
    const shares = sharesOf();
    for (let round = 0; round < 30; round++) {
      await add(shares, `seller ${String(round)}`, 5);
      await take(4);
    }
    expect(await redis.zcard(queue.toKey('sellers'))).toBeLessThanOrEqual((await queue.getPrioritizedCount()) + 2);
  });

  it('fair shares do not move virtual time backwards for a job that returns to the queue', async () => {
    const shares = sharesOf({ jobs: 40, bytes: 500_000 });
    await queue.add('old', {}, { priority: 2000 });
    expect(await add(shares, 'large', 2)).toBe(2);
    await queue.add('returned', {}, { priority: 3 });
    expect(await add(shares, 'large', 1)).toBe(1);
    expect(await shares.place('quiet', 1)).toMatchObject({ priority: 2000 });
  });

  it('fair shares count a large item as a part of what a seller may queue, even if that is more than the queue takes', async () => {
    const shares = sharesOf({ jobs: 1_000_000, bytes: 500_000 });
    expect(await add(shares, 'large', 60, 10_000)).toBe(50);
  });

  it('fair shares are first in, first out after millions of jobs without an empty queue, and then start again', async () => {
    const shares = sharesOf();
    await queue.add('old', {}, { priority: 2_097_151 });
    expect(await add(shares, 'large', 600)).toBe(500);
    await add(shares, 'quiet', 1);
    await take(300);
    expect(await add(shares, 'large', 1)).toBe(0);
    expect((await take(600)).at(-1)).toBe('quiet');
    expect(await shares.place('quiet', 1)).toMatchObject({ priority: 1 });
  });

  it('fair shares place a job although the first key in the list is of another type', async () => {
    await redis.set(queue.toKey('id'), 1);
    await redis.zadd(queue.toKey('prioritized'), 0, 'id');
    const place = await sharesOf().place('seller', 1);
    await redis.del(queue.toKey('prioritized'));
    expect(place).toMatchObject({ priority: 1 });
  });

  it('fair shares report why Redis refuses to place a job', async () => {
    await redis.set(queue.toKey('sellers'), 'not a sorted set');
    await queue.add('first', {}, { priority: 1 });
    await expect(sharesOf().place('seller', 1)).rejects.toThrow('WRONGTYPE');
    expect(report).toHaveBeenCalledWith(expect.stringMatching(/^Redis refuses a command: WRONGTYPE /));
  });
});
