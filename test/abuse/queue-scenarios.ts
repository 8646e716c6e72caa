import { randomBytes } from 'node:crypto';
import { connectRedis, CREATE_QUEUE, keyPrefix, type RedisConnection } from '@app/queue';
import { Worker } from 'bullmq';
import { eventually } from '../support/eventually.js';
import { validInput } from '../support/items.js';
import { openQueue } from '../support/queue.js';
import { expectOnlyStatuses, LARGEST, send } from './attacker.js';
import type { Scenario } from './scenario.js';

const MEGABYTE = 1024 * 1024;
const REDIS_MEGABYTES = 32;
/** Creates as large as a body and as an item may be. In total, they do not fit into this Redis. */
const LARGE_CREATES = { bodies: 40, items: 600 };
const FAILED_JOBS = 10_000;
const FAILED_JOB_BYTES = 10_000;
const FAILED_WITHIN_MS = 60_000;

/** Attacks through what stays in the queue. */
export function queueScenarios(): Scenario[] {
  return [
    {
      name: 'more large creates than Redis has room for, one after the other',
      prepare: (env) => setMaxMemory(env),
      attack: async ({ client }, { share }) => {
        const counts = [LARGE_CREATES.bodies, LARGE_CREATES.items * (0.5 + share)];
        const creates = LARGEST.flatMap((attack, index) => Array.from({ length: counts[index] ?? 0 }, () => attack));
        expectOnlyStatuses(await send(client, creates, 4), [200, 413]);
      },
      afterwards: async ({ client, api, jobs: { redis } }) => {
        const fillers = await fill(redis, 0.8 * REDIS_MEGABYTES);
        await eventually(async () => {
          const { httpStatus, status, parts } = await api.ready();
          expect({ httpStatus, status }).toEqual({ httpStatus: 200, status: 'degraded' });
          expect(Object.values(parts).join()).toMatch(/memory/i);
        });
        // The measurement by which creates are admitted may be 250 ms old.
        await eventually(async () => {
          expect((await client.callOnce('create', validInput())).status).toBe(503);
        });
        await redis.del(...fillers);
        await eventually(() => client.create(validInput()));
        await api.waitForStatus('ready');
      },
    },
    {
      name: 'many failed jobs',
      // Failed jobs must not count towards the limit. A small limit shows that.
      env: { BACKLOG_LIMIT: '1000' },
      prepare: (env, { share }) => failJobs(env, FAILED_JOBS * share),
      attack: async ({ client }) => {
        const creates = LARGEST.flatMap((attack) => Array.from({ length: 10 }, () => attack));
        expectOnlyStatuses(await send(client, creates, 4), [200, 413]);
      },
      afterwards: async ({ api }) => {
        await eventually(async () => {
          expect((await api.ready()).parts).toMatchObject({
            failedJobs: expect.stringMatching(/^\d+: the oldest/) as string,
          });
        });
      },
    },
  ];
}

async function setMaxMemory(env: NodeJS.ProcessEnv): Promise<void> {
  const { redis, close } = openQueue(env);
  await redis.config('SET', 'maxmemory', `${String(REDIS_MEGABYTES)}mb`);
  await close();
}

/** Fills Redis up to a number of megabytes. Returns the keys that it has added. */
async function fill(redis: RedisConnection, megabytes: number): Promise<string[]> {
  const used = async (): Promise<number> => Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
  const keys: string[] = [];
  while ((await used()) < megabytes * MEGABYTE) {
    keys.push(`filler-${String(keys.length)}`);
    await redis.set(keys.at(-1) ?? '', 'x'.repeat(MEGABYTE / 2));
  }
  return keys;
}

/** Adds failed jobs as a bug in the worker would leave them. */
async function failJobs(env: NodeJS.ProcessEnv, count: number): Promise<void> {
  const { queue, close } = openQueue(env);
  const description = 'x'.repeat(FAILED_JOB_BYTES);
  const jobs = Array.from({ length: count }, () => {
    const id = randomBytes(12).toString('hex');
    return { name: 'create', data: { version: 1, id, item: validInput({ description }) }, opts: { jobId: id } };
  });
  const fail = (): Promise<void> => Promise.reject(new Error('a mistake'));
  const connection = connectRedis(env['REDIS_URL'] ?? '', 'worker', () => undefined);
  const prefix = keyPrefix(env['QUEUE_PREFIX'] ?? '');
  const worker = new Worker(CREATE_QUEUE, fail, { connection, prefix, concurrency: 200 });
  try {
    for (let at = 0; at < count; at += 500) await queue.addBulk(jobs.slice(at, at + 500));
    await eventually(async () => {
      expect(await queue.getFailedCount()).toBe(count);
    }, FAILED_WITHIN_MS);
  } finally {
    await worker.close();
    connection.disconnect();
    await close();
  }
}
