import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';
import { uniqueWord } from '../support/items.js';
import type { Attempt, Load } from './load.js';
import type { Deployment, ServiceInstance } from './deployment.js';

/** Something that goes wrong under load. */
export interface Fault {
  name: string;
  /** Causes the fault, and restarts the processes that it ends. The stores are restored after it returns. */
  inject: (deployment: Deployment, load: Load) => Promise<void>;
  /** The statuses that clients may get; any if omitted. */
  allowedStatuses?: Attempt['status'][];
  /** Settings of the processes. */
  env?: NodeJS.ProcessEnv;
  /** A checkout whose processes run first, if not this one. */
  root?: string;
  /** Whether creates that got a 202 may be lost. */
  losesAccepted?: true;
}

/** Longer than the lock of a job lasts without being extended. */
const PAST_LOCK_MS = 8000;
const STORE_STOPPED_MS = 8000;
const ACCEPTED_JOBS = 2000;
const MONGODB_AWAY_MS = 300_000;

const SUCCESSES: Attempt['status'][] = [200, 202];

/** Returns the element at an index, which wraps around. */
function nth<T>(elements: readonly T[], index: number): T {
  const one = elements[index % elements.length];
  if (one === undefined) throw new Error('there is none');
  return one;
}

async function times(count: number, act: (index: number) => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index++) await act(index);
}

async function restart(instance: ServiceInstance, afterMs: number): Promise<void> {
  await instance.end('SIGKILL');
  await delay(afterMs);
  await instance.start();
}

/** Makes Redis refuse writes for a moment, like a primary that has lost its replicas. */
async function refuseWritesBriefly({ jobs: { redis } }: Deployment): Promise<void> {
  await redis.config('SET', 'min-replicas-to-write', '1');
  await delay(150);
  await redis.config('SET', 'min-replicas-to-write', '0');
  await delay(350);
}

async function fillRedis({ jobs: { redis }, workers }: Deployment): Promise<void> {
  const used = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
  // At first, Redis refuses only commands that need more memory.
  await redis.config('SET', 'maxmemory', String(used + 100_000));
  await delay(3000);
  await redis.config('SET', 'maxmemory', '0');
  // Then it refuses every command that might need more, while jobs wait and the new workers have none.
  await Promise.all(workers.map((worker) => worker.end('SIGKILL')));
  await delay(1000);
  await redis.config('SET', 'maxmemory', String(Math.round(used / 2)));
  const starting = Promise.all(workers.map((worker) => worker.start()));
  await delay(3000);
  await redis.config('SET', 'maxmemory', '0');
  await starting;
}

async function stepDown({ database }: Deployment): Promise<void> {
  const admin = database.connection.getClient().db('admin');
  await admin.command({ replSetStepDown: 10, secondaryCatchUpPeriodSecs: 5 });
  await delay(3000);
}

/** Creates one item that MongoDB rejects, and expects that no other job fails. */
async function rejectOneCreate({ database, jobs: { queue } }: Deployment, load: Load): Promise<void> {
  const name = uniqueWord();
  const { db } = database.connection;
  await db?.command({ collMod: 'items', validator: { name: { $ne: name } } });
  expect((await load.create(name)).status).toBe(500);
  const [job, ...others] = await queue.getFailed();
  expect(others).toEqual([]);
  expect(job?.failedReason).toMatch(/validation/);
  expect(job?.data).toMatchObject({ item: { name } });
  await db?.command({ collMod: 'items', validator: {} });
}

async function createCopies(count: number, load: Load): Promise<void> {
  const key = uniqueWord();
  const responses = await Promise.all(Array.from({ length: count }, () => load.create(key)));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
}

async function acceptAll(load: Load): Promise<void> {
  let remaining = ACCEPTED_JOBS;
  const client = async (): Promise<void> => {
    while (remaining-- > 0) {
      const name = uniqueWord();
      // With a key the create would be refused, because it is unknown whether the key was used.
      await eventually(async () => {
        expect((await load.accept(name)).status).toBe(202);
      });
    }
  };
  await Promise.all(Array.from({ length: 100 }, client));
}

export const faults = {
  workerKilled: {
    name: 'a worker killed again and again',
    inject: ({ workers }) => times(3, (index) => restart(nth(workers, index), 1000)),
  },
  allWorkersKilled: {
    name: 'all workers killed for 10 s',
    inject: async ({ workers }) => {
      await Promise.all(workers.map((worker) => restart(worker, 10_000)));
    },
  },
  workerStopped: {
    name: 'a worker stopped past its lock, which then resumes',
    inject: async ({ workers }) => {
      nth(workers, 0).signal('SIGSTOP');
      await delay(PAST_LOCK_MS);
      nth(workers, 0).signal('SIGCONT');
    },
  },
  apiKilled: {
    name: 'an api killed while its clients wait',
    inject: async ({ apis, workers }) => {
      for (const worker of workers) worker.signal('SIGSTOP');
      await delay(500);
      await nth(apis, 0).end('SIGKILL');
      for (const worker of workers) worker.signal('SIGCONT');
      await nth(apis, 0).start();
    },
  },
  rollingDeploy: {
    name: 'a rolling deploy of apis and workers',
    inject: async ({ apis, workers }) => {
      for (const instance of [...workers, ...apis]) await instance.replace();
    },
    allowedStatuses: SUCCESSES,
  },
  redisKilled: {
    name: 'Redis killed',
    inject: async ({ stores: { redis } }) => {
      await redis.kill();
      await delay(2000);
      redis.start();
    },
  },
  redisStopped: {
    name: 'Redis stopped for 8 s',
    inject: async ({ stores: { redis } }) => {
      await redis.pause();
      await delay(STORE_STOPPED_MS);
      redis.resume();
    },
  },
  redisFlushed: {
    name: 'Redis emptied',
    inject: ({ jobs: { redis } }) =>
      times(3, async () => {
        await redis.flushall();
        await delay(1000);
      }),
    losesAccepted: true,
  },
  redisFull: { name: 'Redis out of memory', inject: fillRedis },
  subscribersKilled: {
    name: 'subscribers cut off every second',
    inject: ({ jobs: { redis } }) =>
      times(5, async () => {
        await redis.client('KILL', 'TYPE', 'pubsub');
        await delay(1000);
      }),
    allowedStatuses: SUCCESSES,
    env: { CREATE_WAIT_MS: '20000' },
  },
  redisRefusesWrites: {
    name: 'writes refused by Redis for 150 ms again and again',
    inject: (deployment) => times(10, () => refuseWritesBriefly(deployment)),
  },
  mongodbKilled: {
    name: 'MongoDB killed',
    inject: async ({ stores: { mongod } }) => {
      await mongod.kill();
      await delay(2000);
      mongod.start();
    },
  },
  mongodbStopped: {
    name: 'MongoDB stopped for 8 s',
    inject: async ({ stores: { mongod } }) => {
      await mongod.pause();
      await delay(STORE_STOPPED_MS);
      mongod.resume();
    },
  },
  steppedDown: { name: 'a primary that steps down', inject: stepDown },
  createRejected: {
    name: 'a create that MongoDB refuses',
    inject: rejectOneCreate,
    allowedStatuses: [...SUCCESSES, 500],
    env: { CREATE_WAIT_MS: '10000' },
  },
  createsCopied: {
    name: '100 copies of one create at once, three times',
    inject: (_deployment, load) => times(3, () => createCopies(100, load)),
    allowedStatuses: SUCCESSES,
  },
  mongodbAway: {
    name: `MongoDB unavailable for ${String(MONGODB_AWAY_MS / 1000)} s with ${String(ACCEPTED_JOBS)} creates accepted`,
    inject: async ({ stores: { mongod } }, load) => {
      await mongod.kill();
      await Promise.all([acceptAll(load), delay(MONGODB_AWAY_MS)]);
      mongod.start();
    },
  },
} satisfies Record<string, Fault>;
