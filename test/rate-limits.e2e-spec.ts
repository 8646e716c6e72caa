import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ErrorBody } from '@app/contracts';
import { newMongoId } from '@app/database';
import type { ApiClient, HttpResponse } from './support/api-client.js';
import { runToExit } from './support/command.js';
import { eventually } from './support/eventually.js';
import { EMPTY_LIST, validInput } from './support/items.js';
import { RawConnection } from './support/raw-connection.js';
import { startApi, startService, type Service } from './support/service.js';
import { bearer } from './support/token-issuer.js';

const PATH = '/api/orpc/items';

describe('rate limits', () => {
  let service: Service;
  const started: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    service = await startService({ worker: false });
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((stop) => stop()));
  });
  afterAll(async () => {
    await service.stop();
  });

  /** Starts APIs that share limits with each other, but not with those of other tests. */
  async function startApis(count: number, env: NodeJS.ProcessEnv): Promise<ApiClient[]> {
    const shared = { ...service.env, QUEUE_PREFIX: randomUUID(), TRUST_PROXY: 'loopback', ...env };
    const apis = await Promise.all(Array.from({ length: count }, () => startApi(shared)));
    started.push(...apis.map(({ stop }) => stop));
    return apis.map(({ api }) => api);
  }
  async function start(env: NodeJS.ProcessEnv): Promise<ApiClient> {
    const [api] = await startApis(1, env);
    if (api === undefined) throw new Error('no API');
    return api;
  }

  const from = (address: string): Record<string, string> => ({ 'X-Forwarded-For': address });
  async function withKey(owner: string): Promise<Record<string, string>> {
    const { stdout } = await runToExit('keys', service.env, ['create', '--owner', owner]);
    return bearer(stdout.trim());
  }
  // A read that takes too long is counted as well.
  const read = (api: ApiClient, headers = {}): Promise<HttpResponse<ErrorBody>> =>
    api.callOnce('getAll', EMPTY_LIST, headers);
  /**
   * Sends a create, again if it gets a 503. Without a worker, it waits until its client disconnects. Returns the status,
   * if there is one.
   */
  async function waitingCreate(api: ApiClient, signal: AbortSignal): Promise<number | undefined> {
    const body = JSON.stringify(validInput());
    const headers = { 'Content-Type': 'application/json' };
    while (!signal.aborted) {
      const sent = fetch(`${api.base}${PATH}/create`, { method: 'POST', body, headers, signal });
      const status = await sent.then(
        (response) => response.status,
        () => undefined,
      );
      if (status !== 503) return status;
    }
    return undefined;
  }
  async function statuses(count: number, send: () => Promise<{ status: number }>): Promise<number[]> {
    const all: number[] = [];
    for (let at = 0; at < count; at++) all.push((await send()).status);
    return all;
  }

  it('rate limits are off by default', async () => {
    const api = await start({});
    const { status, headers } = await read(api);
    expect([status, headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([200, null, null]);
  });

  it('rate limits tell clients what is left, and when to try again', async () => {
    const api = await start({ RATE_LIMIT_GETALL: '2/600', CORS_ORIGINS: 'https://shop.example' });
    const [first, second, third] = [
      await read(api),
      await read(api),
      await read(api, { Origin: 'https://shop.example' }),
    ];
    expect(first.headers.get('ratelimit-policy')).toBe('"getAll";q=2;w=600');
    expect(first.headers.get('ratelimit')).toMatch(/^"getAll";r=1;t=(600|59\d)$/);
    expect(second.headers.get('ratelimit')).toMatch(/^"getAll";r=0;t=(600|59\d)$/);
    expect([first.status, second.status, third.status]).toEqual([200, 200, 429]);
    expect(third.body).toEqual({
      defined: false,
      code: 'TOO_MANY_REQUESTS',
      status: 429,
      message: 'Too many requests for getAll: at most 2 in 600 s',
    });
    const { headers } = third;
    expect(headers.get('ratelimit')).toBe(`"getAll";r=0;t=${String(headers.get('retry-after'))}`);
    expect(headers.get('access-control-expose-headers')).toContain('RateLimit,RateLimit-Policy');
    const { status, headers: others } = await api.call('getById', { id: newMongoId() });
    expect([status, others.get('ratelimit-policy')]).toEqual([404, null]);
  });

  it('rate limits are shared by all instances, and never exceeded', async () => {
    const apis = await startApis(2, { RATE_LIMIT_CREATE: '50/600' });
    const granted: number[] = [];
    // Creates, because reads are granted if Redis responds too late to count them, as on a busy machine.
    const create = async (api: ApiClient | undefined): Promise<boolean> => {
      const response = await api?.callOnce('create', {}, from(`192.0.2.${String(granted.length)}`));
      return response?.status === 400;
    };
    await eventually(async () => {
      const all = await Promise.all(Array.from({ length: 200 }, (_, at) => create(apis[at % 2])));
      granted.push(all.filter(Boolean).length);
      expect(granted.at(-1)).toBeGreaterThanOrEqual(45);
    });
    expect(Math.max(...granted)).toBeLessThanOrEqual(50);
  });

  it('rate limits are new in each window', async () => {
    const api = await start({ RATE_LIMIT_GETALL: '3/1' });
    await eventually(async () => {
      expect(await statuses(3, () => read(api))).toEqual([200, 200, 200]);
      const { status, headers } = await read(api);
      expect([status, headers.get('retry-after')]).toEqual([429, '1']);
    });
    await eventually(async () => {
      expect((await read(api)).status).toBe(200);
    });
  });

  it.each(['on', 'off'])(
    'rate limits keep the connections of callers that are refused: fast lane %s',
    async (FAST_LANE) => {
      const api = await start({ AUTH_API_KEYS: 'on', RATE_LIMIT_GETALL: '1/600', FAST_LANE });
      const connection = await RawConnection.open(api.base);
      const send = async (operation: string, body: string): Promise<unknown[]> => {
        const head = `POST ${PATH}/${operation} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
        connection.send(`${head}Content-Length: ${String(body.length)}\r\n\r\n${body}`);
        const { status, headers } = await connection.nextResponse();
        return [status, headers.get('connection')];
      };
      expect(await send('getAll', '{}')).toEqual([200, 'keep-alive']);
      for (const body of ['{}', `{"search":"${'x'.repeat(30_000)}"}`]) {
        expect(await send('getAll', body)).toEqual([429, 'keep-alive']);
        expect(await send('create', body)).toEqual([401, 'keep-alive']);
      }
      connection.destroy();
    },
  );

  it('rate limits begin new windows after the operator has changed their seconds', async () => {
    const QUEUE_PREFIX = randomUUID();
    const before = await start({ QUEUE_PREFIX, RATE_LIMIT_GETALL: '3/3600' });
    expect(await statuses(4, () => read(before))).toEqual([200, 200, 200, 429]);
    const after = await start({ QUEUE_PREFIX, RATE_LIMIT_GETALL: '2/60' });
    const { status, headers } = await read(after);
    expect([status, headers.get('ratelimit')]).toEqual([200, expect.stringMatching(/^"getAll";r=1;t=(60|59)$/)]);
  });

  it('rate limits are per address: IPv4, or the /64 of IPv6', async () => {
    const api = await start({ RATE_LIMIT_GETALL: '1/600' });
    const status = async (address: string): Promise<number> => (await read(api, from(address))).status;
    expect(await status('203.0.113.1')).toBe(200);
    expect(await status('::ffff:203.0.113.1')).toBe(429);
    expect(await status('203.0.113.2')).toBe(200);
    expect(await status('2001:db8:0:1::1')).toBe(200);
    expect(await status('2001:db8:0:1:ffff::2')).toBe(429);
    expect(await status('2001:db8:0:2::1')).toBe(200);
    expect(await status('not an address')).toBe(200);
  });

  it('rate limits are per caller if callers authenticate, whatever their address', async () => {
    const api = await start({ AUTH_API_KEYS: 'on', RATE_LIMIT_GETALL: '1/600' });
    const status = async (headers: Record<string, string>): Promise<number> => (await read(api, headers)).status;
    const [alice, again, bob] = [await withKey('alice'), await withKey('alice'), await withKey('bob')];
    expect(await status(alice)).toBe(200);
    expect(await status({ ...again, ...from('203.0.113.1') })).toBe(429);
    expect(await status(bob)).toBe(200);
    expect(await status(from('203.0.113.1'))).toBe(200);
    expect(await status(from('203.0.113.1'))).toBe(429);
    expect(await status(alice)).toBe(429);
  });

  it.each(['on', 'off'])(
    'rate limits are checked after the caller and before the body: fast lane %s',
    async (FAST_LANE) => {
      const api = await start({ AUTH_API_KEYS: 'on', RATE_LIMIT_CREATE: '1/600', FAST_LANE });
      const caller = await withKey(`lane-${FAST_LANE}`);
      const send = (path: string, headers: object, method = 'POST'): Promise<HttpResponse<ErrorBody>> =>
        api.request(path, { method, body: '{', headers: { 'Content-Type': 'text/plain', ...headers } });
      const create = `${PATH}/create`;
      expect((await send(create, {})).status).toBe(401);
      expect((await send(create, caller)).status).toBe(415);
      expect((await send(create, caller)).status).toBe(429);
      expect((await send(create, caller, 'PUT')).status).toBe(405);
      expect((await send(`${create}s`, caller)).status).toBe(404);
      const raw = await RawConnection.open(api.base);
      const { Authorization = '' } = caller;
      const head = `POST ${create} HTTP/1.1\r\nHost: x\r\nAuthorization: ${Authorization}\r\nContent-Type: application/json`;
      raw.send(`${head}\r\nContent-Length: 1000000\r\n\r\n`);
      const { status, headers } = await raw.nextResponse();
      expect([status, headers.get('ratelimit-policy')]).toEqual([429, '"create";q=1;w=600']);
      raw.destroy();
    },
  );

  it('rate limits count the bytes of bodies for each operation, and an unknown length as the longest', async () => {
    const api = await start({ RATE_LIMIT_BYTES: '2100000/600' });
    const send = (body: string, operation = 'getAll'): Promise<HttpResponse<ErrorBody>> =>
      api.post(`${PATH}/${operation}`, body, { 'Content-Type': 'application/json' });
    const { headers } = await send('{}');
    expect(headers.get('ratelimit-policy')).toBe('"bytes";q=2100000;qu="content-bytes";w=600');
    expect(headers.get('ratelimit')).toMatch(/^"bytes";r=2099998;t=\d+$/);
    const raw = await RawConnection.open(api.base);
    const head = `POST ${PATH}/getAll HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    raw.send(`${head}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`);
    const chunked = await raw.nextResponse();
    raw.destroy();
    expect(chunked.headers.get('ratelimit')).toMatch(/^"bytes";r=1051422;/);
    expect((await send(JSON.stringify('x'.repeat(1_000_000)))).status).toBe(400);
    const exceeded = await send(JSON.stringify('x'.repeat(52_000)));
    expect([exceeded.status, exceeded.body.message]).toEqual([429, 'Too many bytes: at most 2100000 in 600 s']);
    expect((await send('{}')).status).toBe(200);
    const other = await send('{}', 'getById');
    expect([other.status, other.headers.get('ratelimit')]).toEqual([400, expect.stringMatching(/r=2099998;/)]);
  });

  it('rate limits count the requests of a caller at the same time, for each operation', async () => {
    const api = await start({ RATE_LIMIT_CONCURRENT: '1', CREATE_WAIT_MS: '120000' });
    const waiting = new AbortController();
    const create = waitingCreate(api, waiting.signal);
    const invalid = (headers = {}): Promise<HttpResponse<ErrorBody>> => api.call('create', {}, headers);
    const exceeded = await eventually(async () => {
      const response = await invalid();
      expect(response.status).toBe(429);
      return response;
    });
    expect(exceeded.body.message).toBe('Too many requests at the same time: at most 1');
    expect(exceeded.headers.get('retry-after')).toBe('1');
    expect(exceeded.headers.get('ratelimit-policy')).toBe('"concurrent";q=1;qu="concurrent-requests"');
    expect((await invalid(from('203.0.113.9'))).status).toBe(400);
    expect((await read(api)).status).toBe(200);
    waiting.abort();
    await create;
    await eventually(async () => {
      expect((await invalid()).status).toBe(400);
    });
    expect(await statuses(5, invalid)).toEqual([400, 400, 400, 400, 400]);
  });

  it('rate limits do not count a request that exceeds RATE_LIMIT_CONCURRENT towards other limits', async () => {
    const env = { RATE_LIMIT_CONCURRENT: '1', RATE_LIMIT_CREATE: '100/600', CREATE_WAIT_MS: '120000' };
    // With another API each time, because a create that gets a 503 may have been counted.
    await eventually(async () => {
      const api = await start(env);
      const waiting = new AbortController();
      const create = waitingCreate(api, waiting.signal);
      // Those before the waiting create arrived, that create, and the one that gets its response after it.
      let counted = 2;
      const invalid = (): Promise<HttpResponse<ErrorBody>> => api.call('create', {});
      await eventually(async () => {
        const { status } = await invalid();
        if (status === 400) counted++;
        expect(status).toBe(429);
      });
      expect(await statuses(5, invalid)).toEqual([429, 429, 429, 429, 429]);
      waiting.abort();
      await create;
      const { headers } = await eventually(async () => {
        const response = await invalid();
        expect(response.status).toBe(400);
        return response;
      });
      expect(headers.get('ratelimit')).toMatch(new RegExp(`^"create";r=${String(100 - counted)};`));
    });
  });

  it('rate limits count the requests at the same time of all instances', async () => {
    const apis = await startApis(2, { RATE_LIMIT_CONCURRENT: '5', CREATE_WAIT_MS: '120000' });
    const waiting = new AbortController();
    const creates = Array.from({ length: 20 }, (_, at) => waitingCreate(apis[at % 2] as ApiClient, waiting.signal));
    let refused = 0;
    for (const each of creates) void each.then((status) => (refused += Number(status === 429)));
    await eventually(() => {
      expect(refused).toBe(15);
    });
    // The others still wait, for longer than a reservation lasts.
    await delay(4000);
    for (const api of apis) expect((await api.call('create', {})).status).toBe(429);
    expect(refused).toBe(15);
    waiting.abort();
    await Promise.all(creates);
    await eventually(async () => {
      for (const api of apis) expect(await statuses(5, () => api.call('create', {}))).toEqual(Array(5).fill(400));
    });
  });

  it('rate limits never refuse a caller that sends no more requests at the same time than it may', async () => {
    const apis = await startApis(2, { RATE_LIMIT_CONCURRENT: '8' });
    let sent = 0;
    const client = (): Promise<number[]> => statuses(200, () => read(apis[sent++ % 2] as ApiClient));
    const all = await Promise.all(Array.from({ length: 8 }, client));
    expect(all.flat().filter((status) => status !== 200)).toEqual([]);
    // 1,600 reads, which take minutes on a busy machine.
  }, 240_000);
});
