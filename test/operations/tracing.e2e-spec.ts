import { join } from 'node:path';
import { SchemaRepository, type Database } from '@app/database';
import type { ApiClient } from '../support/api-client.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { uniqueWord, validInput } from '../support/items.js';
import { OtlpReceiver, type ExportedSpan } from '../support/otlp-receiver.js';
import { endProcesses, killProcesses, ServiceProcess } from '../support/processes.js';
import { openQueue, type OpenQueue } from '../support/queue.js';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';
const TRACEPARENT = `00-${TRACE_ID}-${PARENT_ID}-01`;
const CREATE = 'POST /api/orpc/items/create';
const GET_ALL = 'POST /api/orpc/items/getAll';
const GET_BY_ID = 'POST /api/orpc/items/getById';
const BATCH = 'batch item-create';
const PROCESS = 'process item-create';
/** The code of the status of a span that has failed (https://opentelemetry.io/docs/specs/otlp/). */
const ERROR = 2;
const SECRET = 'nobody may read this';

describe('tracing', () => {
  let env: NodeJS.ProcessEnv;
  let database: Database;
  let receiver: OtlpReceiver;

  beforeAll(async () => {
    env = freshEnvironment({ CREATE_WAIT_MS: '60000', LOG_LEVEL: 'info' });
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
  });
  afterAll(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });

  async function start(name: 'api' | 'worker', more: NodeJS.ProcessEnv = {}): Promise<ServiceProcess> {
    const started = ServiceProcess.start(name, { ...env, ...receiver.env, ...more });
    await started.waitForStatus('ready');
    return started;
  }
  const startReceiver = async (): Promise<void> => {
    receiver = await OtlpReceiver.start();
  };
  const endAll = async (): Promise<void> => {
    await endProcesses();
    await receiver.stop();
  };

  /** Waits for the spans of a create. */
  const expectFollowed = async (): Promise<void> => {
    const { traceId } = await receiver.find(CREATE);
    const insert = await receiver.find('insert items', traceId);
    await eventually(() => {
      expect(receiver.pathTo(insert)).toEqual([
        'item-listing-worker: insert items',
        'item-listing-worker: batch item-create',
        'item-listing-worker: process item-create',
        'item-listing-api: send item-create',
        `item-listing-api: ${CREATE}`,
      ]);
    });
    const command = await receiver.find('evalsha', traceId);
    expect(receiver.pathTo(command)).toContain('item-listing-api: send item-create');
  };

  describe('with the default settings', () => {
    let client: ApiClient;
    let jobs: OpenQueue;
    beforeAll(async () => {
      await startReceiver();
      jobs = openQueue(env);
      const [api] = await Promise.all([start('api'), start('worker')]);
      client = await api.client();
    });
    afterAll(async () => {
      await jobs.close();
      await endAll();
    });

    const spansOf = (wanted: string): ExportedSpan[] => receiver.spans.filter(({ name }) => name === wanted);
    const counts = (): number[] => [CREATE, BATCH, PROCESS].map((name) => spansOf(name).length);

    it('tracing follows a create from the request to MongoDB', async () => {
      await client.create(validInput());
      await expectFollowed();
    });

    it('tracing links a batch to the trace of each of its jobs', async () => {
      const [creates = 0, done = 0, started = 0] = counts();
      await jobs.queue.pause();
      const creating = [1, 2, 3].map(() => client.create(validInput()));
      await eventually(async () => {
        expect(await jobs.queue.getWaitingCount()).toBe(3);
      });
      await jobs.queue.resume();
      await Promise.all(creating);
      // The worker takes the first job, then the others together with it.
      await eventually(() => {
        const batches = spansOf(BATCH).slice(done);
        const processed = spansOf(PROCESS).slice(started);
        const linked = batches.flatMap(({ links }) => links.map(({ spanId }) => spanId));
        expect(linked.sort()).toEqual(processed.map(({ spanId }) => spanId).sort());
        expect(new Set(processed.map(({ traceId }) => traceId)).size).toBe(3);
        expect(batches.length).toBeLessThan(3);
        expect(spansOf(CREATE)).toHaveLength(creates + 3);
      });
    });

    it('tracing shows the query of a getById', async () => {
      await client.call('getById', { id: 'f'.repeat(24) });
      const { traceId } = await receiver.find(GET_BY_ID);
      await eventually(async () => {
        const path = receiver.pathTo(await receiver.find('find $cmd', traceId));
        expect(path.at(-1)).toBe(`item-listing-api: ${GET_BY_ID}`);
      });
    });

    it('tracing ignores the trace of a caller', async () => {
      await client.call('getAll', {}, { traceparent: TRACEPARENT });
      const { traceId, parentSpanId } = await receiver.find(GET_ALL);
      expect([traceId === TRACE_ID, parentSpanId === PARENT_ID]).toEqual([false, false]);
    });

    it('tracing exports no texts of items, no health checks, and no commands outside of requests', async () => {
      const before = counts();
      await client.create(validInput({ description: SECRET }));
      await eventually(() => {
        expect(counts()).toEqual(before.map((count) => count + 1));
      });
      expect(receiver.received).not.toContain(SECRET);
      const roots = receiver.spans.filter(({ parentSpanId }) => parentSpanId === undefined);
      expect(roots.filter(({ name }) => ![CREATE, GET_BY_ID, GET_ALL].includes(name))).toEqual([]);
    });
  });

  describe('with other settings', () => {
    beforeEach(startReceiver);
    afterEach(endAll);

    it('tracing follows a create without the fast lane', async () => {
      const [api] = await Promise.all([start('api', { FAST_LANE: 'off' }), start('worker')]);
      await (await api.client()).create(validInput());
      await expectFollowed();
    });

    it('tracing marks the span of a job that fails, but not that of another job in its batch', async () => {
      const name = uniqueWord();
      await database.connection.db?.command({ collMod: 'items', validator: { name: { $ne: name } } });
      const api = await start('api');
      const client = await api.client();
      for (const input of [validInput(), validInput({ name })])
        expect((await client.call('create', input, { Prefer: 'respond-async' })).status).toBe(202);
      await eventually(async () => {
        expect(await api.metrics()).toContain('item_listing_jobs{state="waiting"} 2');
      });
      await start('worker');
      const { links } = await receiver.find(BATCH);
      expect(links).toHaveLength(2);
      await eventually(() => {
        const jobs = receiver.spans.filter(({ spanId }) => links.some((link) => link.spanId === spanId));
        expect(jobs.map(({ status }) => status.code === ERROR).sort()).toEqual([false, true]);
      });
      await database.connection.db?.command({ collMod: 'items', validator: {} });
    });

    it.each([
      ['continues the trace of a trusted proxy', 'loopback', true],
      ['ignores the trace of a caller that is not a trusted proxy', '10.0.0.0/8', false],
    ])('tracing %s', async (_title, TRUST_PROXY, isContinued) => {
      const api = await start('api', { TRUST_PROXY });
      await (await api.client()).call('getById', { id: 'f'.repeat(24) }, { traceparent: TRACEPARENT });
      const { traceId, parentSpanId } = await receiver.find(GET_BY_ID);
      expect(traceId === TRACE_ID).toBe(isContinued);
      expect(parentSpanId === PARENT_ID).toBe(isContinued);
    });

    it.each([
      { traced: 'a limited number of requests', more: {}, least: 20, most: 199 },
      { traced: 'each request', more: { OTEL_TRACES_SAMPLER: 'parentbased_always_on' }, least: 200, most: 200 },
    ])('tracing records $traced of a burst', async ({ more, least, most }) => {
      const api = await start('api', more);
      const client = await api.client();
      await Promise.all(Array.from({ length: 200 }, () => client.call('getById', { id: 'f'.repeat(24) })));
      await api.end('SIGTERM');
      const { length } = receiver.spans.filter(({ name }) => name === GET_BY_ID);
      expect(length).toBeGreaterThanOrEqual(least);
      expect(length).toBeLessThanOrEqual(most);
    });

    it('tracing exports the last spans when the process stops', async () => {
      const api = await start('api', { OTEL_BSP_SCHEDULE_DELAY: '60000' });
      await (await api.client()).call('getById', { id: 'f'.repeat(24) });
      expect(await api.end('SIGTERM')).toMatchObject({ code: 0 });
      await receiver.find(GET_BY_ID);
    });

    it('tracing does not keep a process from serving and stopping while the receiver is unavailable', async () => {
      const api = await start('api', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
      const { status } = await (await api.client()).call('getById', { id: 'f'.repeat(24) });
      expect(status).toBe(404);
      expect(await api.end('SIGTERM')).toMatchObject({ code: 0 });
      expect(api.stoppedAfterMs).toBeLessThan(9000);
    });

    it('tracing writes to standard error why the receiver gets no spans, if OTEL_LOG_LEVEL asks for it', async () => {
      const unavailable = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_LOG_LEVEL: 'error' };
      const api = await start('api', unavailable);
      await (await api.client()).call('getById', { id: 'f'.repeat(24) });
      await eventually(() => {
        expect(api.stderr).toContain('ECONNREFUSED');
      });
      await killProcesses();
    });

    it.each([
      { propagators: 'the default propagators', more: {} },
      { propagators: 'no propagators', more: { OTEL_PROPAGATORS: 'none' } },
    ])('tracing is left to a module that is loaded with node --require, with $propagators', async ({ more }) => {
      const env = { NODE_OPTIONS: `--require ${join(__dirname, '..', 'support', 'opentelemetry.cjs')}`, ...more };
      const [api] = await Promise.all([start('api', env), start('worker', env)]);
      await (await api.client()).create(validInput());
      // The worker may also process a job that an earlier test has left.
      const { traceId } = await receiver.find(CREATE);
      const insert = await receiver.find('insert items', traceId);
      await eventually(() => {
        expect(receiver.pathTo(insert).at(-1)).toMatch(/^from-require: POST/);
      });
      const roots = receiver.spans.filter((span) => span.traceId === traceId && span.parentSpanId === undefined);
      expect(roots).toHaveLength(1);
      // Those of Nest's and Express' instrumentations.
      await receiver.find('ItemsController.create', traceId);
      await receiver.find('request handler', traceId);
      // That of HTTP's instrumentation, and none of the service's own.
      expect(receiver.spans.filter(({ name }) => name === CREATE)).toHaveLength(1);
    });

    it('tracing is off without a receiver, and its packages are not loaded', async () => {
      const NODE_OPTIONS = `--require ${join(__dirname, '..', 'support', 'report-opentelemetry.cjs')}`;
      const off = { OTEL_EXPORTER_OTLP_ENDPOINT: '', NODE_OPTIONS };
      const [api, worker] = await Promise.all([start('api', off), start('worker', off)]);
      await (await api.client()).create(validInput());
      for (const process of [api, worker]) {
        await process.end('SIGTERM');
        const [line] = process.log.filter(({ msg }) => msg === 'loaded packages of OpenTelemetry');
        expect(line?.['packages']).toEqual(['@opentelemetry/api']);
      }
    });
  });
});
