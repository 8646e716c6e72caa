import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ErrorBody, Item } from '@app/contracts';
import type { HttpResponse, ApiClient } from './support/api-client.js';
import { expectError } from './support/errors.js';
import { eventually } from './support/eventually.js';
import { uniqueWord, validInput } from './support/items.js';
import { openQueue, type OpenQueue } from './support/queue.js';
import { RawConnection } from './support/raw-connection.js';
import { startService, startWorker, type Service } from './support/service.js';

const CREATE_WAIT_MS = 2000;
/** How much a busy machine may add to a wait measured from outside. */
const SLACK_MS = 1500;

interface Queued {
  id: string;
  status: string;
}

function send<Body>(api: ApiClient, prefer: string, input: unknown, key?: string): Promise<HttpResponse<Body>> {
  return api.call('create', input, { Prefer: prefer, ...(key === undefined ? {} : { 'Idempotency-Key': key }) });
}

function expectQueued({ status, headers, body }: HttpResponse<Queued>): void {
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
    service = await startService({ env: { CREATE_WAIT_MS: '60000' } });
    api = service.api;
  });
  afterAll(() => service.stop());

  const waitForItem = (id: string): Promise<Item> =>
    eventually(async () => {
      const { status, body } = await api.call<Item>('getById', { id });
      expect(status).toBe(200);
      return body;
    });

  describe('respond-async', () => {
    it('respond-async returns a 202 with the id under which the item appears', async () => {
      const name = uniqueWord();
      const queued = await send<Queued>(api, 'respond-async', validInput({ name }));
      expectQueued(queued);
      expect(await waitForItem(queued.body.id)).toMatchObject({ id: queued.body.id, name });
    });

    it('respond-async responds to an envelope with an envelope', async () => {
      const { body, ...response } = await send<{ json: Queued }>(api, 'respond-async', { json: validInput() });
      expect(Object.keys(body)).toEqual(['json']);
      expectQueued({ ...response, body: body.json });
      await waitForItem(body.json.id);
    });

    it('respond-async rejects invalid input immediately', async () => {
      expectError(await send<ErrorBody>(api, 'respond-async', validInput({ price: -1 })), 400, 'BAD_REQUEST');
      const nowhere = validInput({ categoryId: 'nowhere' });
      expectError(await send<ErrorBody>(api, 'respond-async', nowhere), 400, 'BAD_REQUEST');
    });

    it('respond-async with a key returns the item once it is stored, and a 422 for another body', async () => {
      const [key, input] = [randomUUID(), validInput()];
      const queued = await send<Queued>(api, 'respond-async', input, key);
      expectQueued(queued);
      const item = await waitForItem(queued.body.id);
      // Reads may see the item before a majority has it. It counts as stored only after that.
      const replay = await eventually(async () => {
        const response = await send<Item>(api, 'respond-async', input, key);
        expect([response.status, response.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
        return response;
      });
      expect(replay.headers.get('preference-applied')).toBeNull();
      expect(replay.body).toEqual(item);
      const another = await send<ErrorBody>(api, 'respond-async', validInput({ price: 2 }), key);
      expectError(another, 422, 'UNPROCESSABLE_CONTENT');
    });

    it('respond-async with a wait returns the item if it is stored in time', async () => {
      const { status, headers, body } = await send<Item>(api, 'respond-async, wait=60', validInput());
      expect([status, headers.get('preference-applied')]).toEqual([200, null]);
      expect(body).toHaveProperty('publicId', expect.any(Number));
    });
  });

  it.each(['wait=60', 'wait=99999999999', 'handling=strict', 'return=minimal'])(
    'a create with Prefer: %s returns the item',
    async (prefer) => {
      const { status, headers } = await send<Item>(api, prefer, validInput());
      expect([status, headers.get('preference-applied')]).toEqual([200, null]);
    },
  );

  it.each(['respond-async=no', 'respond async', 'wait=soon', 'wait=-1', 'wait', '=', ',;,', '"respond-async"'])(
    'a Prefer header with %s is ignored',
    async (prefer) => {
      const { status, body } = await send<Item>(api, prefer, validInput());
      expect([status, typeof body.publicId]).toEqual([200, 'number']);
    },
  );

  it('Prefer does not affect reads', async () => {
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

  async function timed(prefer: string): Promise<HttpResponse<Queued & ErrorBody> & { afterMs: number }> {
    const since = Date.now();
    const response = await api.callOnce<Queued & ErrorBody>('create', validInput(), { Prefer: prefer });
    return { ...response, afterMs: Date.now() - since };
  }

  it('respond-async returns once the job is in the queue', async () => {
    const queued = await eventually(async () => {
      const { afterMs, ...response } = await timed('respond-async');
      expectQueued(response);
      expect(afterMs).toBeLessThan(SLACK_MS);
      return response;
    });
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
  ])('a create with Prefer: %s returns a %i after %i ms', async (prefer, status, waitMs) => {
    await eventually(async () => {
      const response = await timed(prefer);
      expect(response.status).toBe(status);
      // Timers may be a millisecond early.
      expect(response.afterMs).toBeGreaterThanOrEqual(waitMs - 5);
      expect(response.afterMs).toBeLessThan(waitMs + SLACK_MS);
      expect(response.headers.get('preference-applied')).toBe(status === 202 ? 'respond-async' : null);
    });
  });

  describe('counts the wait from the end of the request', () => {
    const request = (prefer: string): string => {
      const body = JSON.stringify(validInput());
      const head = `POST /api/orpc/items/create HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nPrefer: ${prefer}\r\n`;
      return `${head}Content-Length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`;
    };
    const eventuallyOver = (exchange: (connection: RawConnection) => Promise<void>): Promise<void> =>
      eventually(async () => {
        const connection = await RawConnection.open(api.base);
        await exchange(connection).finally(() => {
          connection.destroy();
        });
      });

    it('respond-async returns a 202, even if its body took longer than any create waits', async () => {
      const bytes = request('respond-async');
      await eventuallyOver(async (connection) => {
        connection.send(bytes.slice(0, -10));
        await delay(CREATE_WAIT_MS);
        connection.send(bytes.slice(-10));
        expect((await connection.nextResponse()).status).toBe(202);
      });
    });

    it('respond-async returns a 202, even if an earlier request on its connection took longer than any create waits', async () => {
      await eventuallyOver(async (connection) => {
        connection.send(request('wait=3600') + request('respond-async'));
        expect((await connection.nextResponse()).status).toBe(504);
        expect((await connection.nextResponse()).status).toBe(202);
      });
    });
  });

  it('respond-async with a key returns a 202 while the job is queued, and the item once a later wait sees it stored', async () => {
    const key = randomUUID();
    const queue = (): Promise<HttpResponse<Queued>> =>
      eventually(async () => {
        const queued = await send<Queued>(api, 'respond-async', validInput(), key);
        expect(queued.status).toBe(202);
        return queued;
      });
    const [first, second] = [await queue(), await queue()];
    expect(second.body).toEqual(first.body);
    expect(await jobs.queue.getWaitingCount()).toBe(1);
    const worker = await startWorker(service.env);
    await eventually(async () => {
      const { status, body } = await send<Queued>(api, 'respond-async, wait=1', validInput(), key);
      expect([status, body.id]).toEqual([200, first.body.id]);
    });
    await worker.stop();
  });
});
