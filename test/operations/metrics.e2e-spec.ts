import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Item } from '@app/contracts';
import { SchemaRepository, type Database } from '@app/database';
import { VERSION } from '@app/runtime';
import type { ApiClient } from '../support/api-client.js';
import { createRedis, removeDatabaseServers, startRedis } from '../support/database-servers.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { validInput } from '../support/items.js';
import { endProcesses, ServiceProcess } from '../support/processes.js';
import { createJob, openQueue, type OpenQueue } from '../support/queue.js';

/** Returns the value of a sample, or undefined if there is none. */
async function valueOf(process: ServiceProcess, sample: string): Promise<number | undefined> {
  const lines = (await process.metrics()).split('\n');
  const line = lines.find((each) => each.startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(sample.length + 1));
}

const COUNTED_WITHIN_MS = 5000;

describe('the metrics', () => {
  let database: Database;
  let env: NodeJS.ProcessEnv;
  let jobs: OpenQueue;
  let api: ServiceProcess;
  let client: ApiClient;
  let worker: ServiceProcess;

  beforeAll(async () => {
    // A Redis of its own, because a test limits its memory.
    const redis = await createRedis();
    await startRedis(redis);
    env = freshEnvironment({ REDIS_URL: redis.url, BACKLOG_LIMIT: '20', CREATE_WAIT_MS: '60000', LOG_LEVEL: 'info' });
    database = await openDatabase(env);
    jobs = openQueue(env);
    await new SchemaRepository(database).createIndexes();
    api = ServiceProcess.start('api', env);
    worker = ServiceProcess.start('worker', env);
    await Promise.all([api, worker].map((each) => each.waitForStatus('ready')));
    client = await api.client();
  });
  afterAll(async () => {
    await database.connection.dropDatabase();
    await Promise.all([database.close(), jobs.close()]);
    await endProcesses();
    await removeDatabaseServers();
  });

  const create = (headers: Record<string, string> = {}, changes: object = {}): Promise<unknown> =>
    client.call('create', validInput(changes), headers);
  /**
   * Repeats an action until it increases a sample by one. A reply arrives before the worker has finished its batch, so
   * the worker may also count an earlier job, and a look-up that takes too long changes how an action is counted.
   */
  const expectOneMore = (process: ServiceProcess, sample: string, act: () => Promise<unknown>): Promise<void> =>
    eventually(async () => {
      const before = (await valueOf(process, sample)) ?? 0;
      await act();
      await eventually(async () => {
        expect(await valueOf(process, sample)).toBe(before + 1);
      }, COUNTED_WITHIN_MS);
    });

  it.each([
    ['getAll', '200', () => client.getAll()],
    ['getById', '404', () => client.call('getById', { id: 'f'.repeat(24) })],
    ['create', '400', () => client.call('create', {})],
    ['other', '404', () => client.request('/no/such/path', {})],
  ])('the metrics include the duration of requests: %s with %s', async (operation, status, request) => {
    const labels = `{operation="${operation}",status="${status}"}`;
    const count = `item_listing_http_request_duration_seconds_count${labels}`;
    await expectOneMore(api, count, request);
    expect(await valueOf(api, `item_listing_http_request_duration_seconds_sum${labels}`)).toBeGreaterThan(0);
  });

  it.each(['getAll', 'getById', 'create', 'other'])(
    'the metrics count requests that get a 500 from zero: %s',
    async (operation) => {
      const labels = `{operation="${operation}",status="500"}`;
      expect(await valueOf(api, `item_listing_http_request_duration_seconds_count${labels}`)).toBe(0);
    },
  );

  it('the metrics count creates by outcome, and the replies that ended their wait', async () => {
    const outcome = (name: string): string => `item_listing_creates_total{outcome="${name}",reason=""}`;
    const headers = { 'Idempotency-Key': 'metrics-key' };
    await expectOneMore(api, outcome('stored'), () => create(headers));
    await expectOneMore(api, outcome('replayed'), () => create(headers));
    await expectOneMore(api, outcome('conflict'), () => create(headers, { price: 9 }));
    await expectOneMore(api, 'item_listing_create_waits_total{end="reply"}', () => create());
  });

  it('the metrics include outcomes that have not occurred yet, so that Prometheus sees their first increase', async () => {
    expect(await valueOf(api, 'item_listing_creates_total{outcome="refused",reason="slow"}')).toBe(0);
    expect(await valueOf(api, 'item_listing_creates_total{outcome="failed",reason=""}')).toBe(0);
    expect(await valueOf(api, 'item_listing_create_waits_total{end="abandoned"}')).toBe(0);
  });

  it('the metrics count the jobs of the worker by outcome and batch', async () => {
    await expectOneMore(worker, 'item_listing_job_attempts_total{outcome="done"}', () => create());
    await expectOneMore(worker, 'item_listing_batch_jobs_sum', () => create());
    await expectOneMore(worker, 'item_listing_batch_duration_seconds_count', () => create());
  });

  it('metrics count a job that has failed permanently, and its attempt', async () => {
    const add = (): Promise<unknown> => jobs.queue.add('create', { ...createJob(), item: null });
    await expectOneMore(worker, 'item_listing_jobs_failed_total', add);
    await expectOneMore(worker, 'item_listing_job_attempts_total{outcome="failed"}', add);
  });

  it('metrics count an attempt that is made again later, and not as failed', async () => {
    const before = await valueOf(worker, 'item_listing_jobs_failed_total');
    const job = { ...createJob(), version: 99 };
    try {
      await expectOneMore(worker, 'item_listing_job_attempts_total{outcome="delay"}', () =>
        jobs.queue.add('create', job, { jobId: job.id }),
      );
    } finally {
      await eventually(async () => {
        expect(await jobs.queue.remove(job.id)).toBe(1);
      });
    }
    expect(await valueOf(worker, 'item_listing_jobs_failed_total')).toBe(before);
  });

  it('the metrics show that creates wait in the queue, time out and are refused while the worker is stopped', async () => {
    worker.signal('SIGSTOP');
    try {
      const unknown = 'item_listing_creates_total{outcome="unknown",reason=""}';
      await expectOneMore(api, unknown, () => create({ Prefer: 'wait=1' }));
      expect(await valueOf(api, 'item_listing_create_waits_total{end="deadline"}')).toBe(1);
      const full = 'item_listing_creates_total{outcome="refused",reason="jobs"}';
      // Those that are accepted do not wait for the worker.
      const headers = { Prefer: 'respond-async' };
      await eventually(async () => {
        await client.callOnce('create', validInput(), headers);
        expect(await valueOf(api, full)).toBeGreaterThan(0);
      });
      // A sample of the queue is shared for a second.
      await eventually(async () => {
        const waiting = (await valueOf(api, 'item_listing_jobs{state="waiting"}')) ?? 0;
        const active = (await valueOf(api, 'item_listing_jobs{state="active"}')) ?? 0;
        expect(waiting).toBeGreaterThan(0);
        expect(waiting + active).toBeGreaterThanOrEqual(20);
      });
      await eventually(async () => {
        expect(await valueOf(api, 'item_listing_oldest_waiting_job_age_seconds')).toBeGreaterThan(1);
      });
    } finally {
      worker.signal('SIGCONT');
    }
    await eventually(async () => {
      expect(await valueOf(api, 'item_listing_jobs{state="waiting"}')).toBe(0);
      expect(await valueOf(api, 'item_listing_oldest_waiting_job_age_seconds')).toBe(0);
    });
  });

  it('the metrics include the response time of each store', async () => {
    // It is missing if a store takes too long to respond.
    await eventually(async () => {
      for (const process of [api, worker])
        for (const store of ['mongodb', 'redis'])
          expect(await valueOf(process, `item_listing_store_response_seconds{store="${store}"}`)).toBeGreaterThan(0);
    });
  });

  it('metrics include the fraction of its maxmemory that Redis uses, and 0 without a limit', async () => {
    const used = async (): Promise<number> => Number(/used_memory:(\d+)/.exec(await jobs.redis.info('memory'))?.[1]);
    const ratio = (): Promise<number | undefined> => valueOf(api, 'item_listing_redis_memory_ratio');
    const expectNoLimit = (): Promise<void> =>
      eventually(async () => {
        expect(await ratio()).toBe(0);
      });
    await expectNoLimit();
    const limit = 4 * (await used());
    await jobs.redis.config('SET', 'maxmemory', limit);
    // A sample is shared for a second.
    await eventually(async () => {
      expect(await ratio()).toBeGreaterThan(0);
      expect(await ratio()).toBeCloseTo((await used()) / limit, 1);
    });
    await jobs.redis.config('SET', 'maxmemory', 0);
    await expectNoLimit();
  });

  it('metrics include the version', async () => {
    for (const process of [api, worker])
      expect(await valueOf(process, `item_listing_build_info{version="${VERSION}"}`)).toBe(1);
  });

  it('the metrics are those that docs/metrics.md describes', async () => {
    await create();
    const documented = readFileSync(join(process.cwd(), 'docs', 'metrics.md'), 'utf8').match(/(?<=`)item_listing_\w+/g);
    const exposed: string[] = [];
    for (const process of [api, worker]) {
      const text = await process.metrics();
      exposed.push(...Array.from(text.matchAll(/^# TYPE (item_listing_\w+)/gm), ([, name = '']) => name));
    }
    expect([...new Set(documented)].sort()).toEqual([...new Set(exposed)].sort());
  });

  it('the alerting rules use only metrics that docs/metrics.md describes', () => {
    const read = (...path: string[]): string => readFileSync(join(process.cwd(), ...path), 'utf8');
    const used = read('deploy', 'prometheus', 'alerts.yml').match(/item_listing_\w+/g) ?? [];
    expect(used.length).toBeGreaterThan(0);
    const documented = read('docs', 'metrics.md');
    const unknown = used.filter((name) => !documented.includes(`\`${name.replace(/_(bucket|count)$/, '')}\``));
    expect(unknown).toEqual([]);
  });

  it('the metrics contain no item data', async () => {
    // The queue may still count as full.
    const id = await eventually(async () => {
      const { status, body } = await client.call<Item>('create', validInput({ name: 'Unmistakable bicycle' }));
      expect(status).toBe(200);
      return body.id;
    });
    for (const process of [api, worker]) {
      const text = await process.metrics();
      expect(text).not.toContain('Unmistakable');
      expect(text).not.toContain(id);
    }
  });
});
