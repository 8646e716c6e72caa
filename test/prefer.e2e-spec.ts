import { randomUUID } from 'node:crypto';
import type { ErrorBody, Item } from '@app/contracts';
import type { Answer, ApiClient } from './support/api-client.js';
import { expectError } from './support/errors.js';
import { eventually } from './support/eventually.js';
import { uniqueWord, validInput } from './support/items.js';
import { openQueue, type OpenQueue } from './support/queue.js';
import { startService, startWorker, type Service } from './support/service.js';

const CREATE_WAIT_MS = 2000;
/** What a busy machine adds to a wait measured from outside. */
const SLACK_MS = 1500;

interface Queued {
  id: string;
  status: string;
}

jest.setTimeout(30_000);

function send<Body>(api: ApiClient, prefer: string, input: unknown, key?: string): Promise<Answer<Body>> {
  return api.call('create', input, { Prefer: prefer, ...(key === undefined ? {} : { 'Idempotency-Key': key }) });
}

function expectQueued({ status, headers, body }: Answer<Queued>): void {
  expect([status, headers.get('preference-applied')]).toEqual([202, 'respond-async']);
  expect(body).toEqual({ id: expect.stringMatching(/^[0-9a-f]{24}$/) as string, status: 'queued' });
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-request-id')).not.toBeNull();
}

describe('Prefer', () => {
  let service: Service;
  let api: ApiClient;
  beforeAll(async () => {
    service = await startService();
    api = service.api;
  });
  afterAll(() => service.stop());

  const appears = (id: string): Promise<Item> =>
    eventually(async () => {
      const { status, body } = await api.call<Item>('getById', { id });
      expect(status).toBe(200);
      return body;
    });

  describe('respond-async', () => {
    it('answers 202 with the id under which the item appears', async () => {
      const name = uniqueWord();
      const queued = await send<Queued>(api, 'respond-async', validInput({ name }));
      expectQueued(queued);
      expect(await appears(queued.body.id)).toMatchObject({ id: queued.body.id, name });
    });

    it('answers an envelope in an envelope', async () => {
      const { body, ...answer } = await send<{ json: Queued }>(api, 'respond-async', { json: validInput() });
      expect(Object.keys(body)).toEqual(['json']);
      expectQueued({ ...answer, body: body.json });
      await appears(body.json.id);
    });

    it('refuses what is invalid at once', async () => {
      expectError(await send<ErrorBody>(api, 'respond-async', validInput({ price: -1 })), 400, 'BAD_REQUEST');
      const nowhere = validInput({ categoryId: 'nowhere' });
      expectError(await send<ErrorBody>(api, 'respond-async', nowhere), 400, 'BAD_REQUEST');
    });

    it('with a key answers the item once it is stored, and 422 to another body', async () => {
      const [key, input] = [randomUUID(), validInput()];
      const queued = await send<Queued>(api, 'respond-async', input, key);
      expectQueued(queued);
      const item = await appears(queued.body.id);
      // Reads may see it before a majority has it, and only then is it stored.
      const replay = await eventually(async () => {
        const answer = await send<Item>(api, 'respond-async', input, key);
        expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
        return answer;
      });
      expect(replay.headers.get('preference-applied')).toBeNull();
      expect(replay.body).toEqual(item);
      const another = await send<ErrorBody>(api, 'respond-async', validInput({ price: 2 }), key);
      expectError(another, 422, 'UNPROCESSABLE_CONTENT');
    });

    it('with a wait answers the item when it is done in time', async () => {
      const { status, headers, body } = await send<Item>(api, 'respond-async, wait=10', validInput());
      expect([status, headers.get('preference-applied')]).toEqual([200, null]);
      expect(body).toHaveProperty('publicId', expect.any(Number));
    });
  });

  it.each(['wait=10', 'wait=99999999999', 'handling=strict', 'return=minimal'])(
    '%s answers the item',
    async (prefer) => {
      const { status, headers } = await send<Item>(api, prefer, validInput());
      expect([status, headers.get('preference-applied')]).toEqual([200, null]);
    },
  );

  it.each(['respond-async=no', 'respond async', 'wait=soon', 'wait=-1', 'wait', '=', ',;,', '"respond-async"'])(
    '%s is ignored',
    async (prefer) => {
      const { status, body } = await send<Item>(api, prefer, validInput());
      expect([status, typeof body.publicId]).toEqual([200, 'number']);
    },
  );

  it('changes nothing about reads', async () => {
    const { status, headers } = await api.call('getAll', {}, { Prefer: 'respond-async, wait=0' });
    expect([status, headers.get('preference-applied')]).toEqual([200, null]);
  });
});

describe('Prefer, while no worker runs', () => {
  let service: Service;
  let api: ApiClient;
  let jobs: OpenQueue;
  beforeEach(async () => {
    service = await startService({ worker: false, env: { CREATE_WAIT_MS: String(CREATE_WAIT_MS) } });
    api = service.api;
    jobs = openQueue(service.env);
  });
  afterEach(async () => {
    await service.stop();
    await jobs.queue.obliterate({ force: true });
    await jobs.close();
  });

  async function timed(prefer: string, key?: string): Promise<Answer<Queued & ErrorBody> & { afterMs: number }> {
    const since = Date.now();
    const answer = await send<Queued & ErrorBody>(api, prefer, validInput(), key);
    return { ...answer, afterMs: Date.now() - since };
  }

  it('respond-async answers once the job is in the queue', async () => {
    const { afterMs, ...queued } = await timed('respond-async');
    expectQueued(queued);
    expect(afterMs).toBeLessThan(SLACK_MS);
    expect(await jobs.queue.getJobState(queued.body.id)).toBe('waiting');
    expect((await api.call('getById', { id: queued.body.id })).status).toBe(404);
    const worker = await startWorker(service.env);
    await eventually(async () => {
      expect((await api.call('getById', { id: queued.body.id })).status).toBe(200);
    });
    await worker.stop();
  });

  it.each([
    ['respond-async, wait=1', 202, 1000],
    ['wait=1', 504, 1000],
    ['wait=0', 504, 0],
    ['wait=3600', 504, CREATE_WAIT_MS],
    ['respond-async, wait=99999999999', 202, CREATE_WAIT_MS],
    ['wait=soon', 504, CREATE_WAIT_MS],
  ])('%s answers %i after %i ms', async (prefer, status, waitMs) => {
    const answer = await timed(prefer);
    expect(answer.status).toBe(status);
    // Timers may be a millisecond early.
    expect(answer.afterMs).toBeGreaterThanOrEqual(waitMs - 5);
    expect(answer.afterMs).toBeLessThan(waitMs + SLACK_MS);
    expect(answer.headers.get('preference-applied')).toBe(status === 202 ? 'respond-async' : null);
  });

  it('with a key answers 202 again while it is queued, and the item when a later wait sees it done', async () => {
    const key = randomUUID();
    const first = await timed('respond-async', key);
    const second = await timed('respond-async', key);
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(second.body).toEqual(first.body);
    expect(await jobs.queue.getWaitingCount()).toBe(1);
    const worker = await startWorker(service.env);
    await eventually(async () => {
      const { status, body } = await timed('respond-async, wait=1', key);
      expect([status, body.id]).toEqual([200, first.body.id]);
    });
    await worker.stop();
  });
});
