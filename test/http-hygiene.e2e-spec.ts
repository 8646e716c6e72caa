import { once } from 'node:events';
import { connect as connectTo, type AddressInfo, type Socket } from 'node:net';
import type { ErrorBody } from '@app/contracts';
import { Connections } from '../apps/api/src/http/connections/connections.js';
import { FastLane } from '../apps/api/src/http/fast-lane.js';
import { requestListener } from '../apps/api/src/http/request-listener.js';
import { createHttpServer } from '../apps/api/src/http/connections/server.js';
import { ApiError } from '../apps/api/src/http/api-error.js';
import { ApiClient, untilServed } from './support/api-client.js';
import { freshEnvironment } from './support/environment.js';
import { expectError } from './support/errors.js';
import { eventually } from './support/eventually.js';
import { record, store, uniqueWord, validInput } from './support/items.js';
import { endProcesses, ServiceProcess } from './support/processes.js';
import { RawConnection } from './support/raw-connection.js';
import { startApi, startService, type RunningApi, type Service } from './support/service.js';

const GET_ALL = '/api/orpc/items/getAll';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const SHOP = 'https://shop.example';
const PREFLIGHT = {
  'Access-Control-Request-Method': 'POST',
  'Access-Control-Request-Headers': 'content-type,idempotency-key',
};
/** The rate of a slow reader, which takes longer than a client may read nothing. */
const BYTES_PER_MS = 2500;
const STALLED_MS = 4000;
const HEALTH = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
const REQUEST = `POST ${GET_ALL} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`;

const corsOf = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));

describe('every response', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ worker: false });
  });
  afterAll(() => service.stop());

  it.each([
    [200, 'POST', GET_ALL, '{}'],
    [400, 'POST', GET_ALL, '{'],
    [404, 'POST', '/nowhere', '{}'],
    [405, 'GET', GET_ALL, null],
    [204, 'OPTIONS', GET_ALL, null],
    [200, 'GET', '/health/ready', null],
  ])(
    'every response has headers that keep browsers from misusing it: %i of %s %s',
    async (status, method, path, body) => {
      const response = await untilServed(() => service.api.request(path, { method, body, headers: JSON_TYPE }));
      expect(response.status).toBe(status);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy':
          "default-src 'none';base-uri 'none';connect-src 'self';font-src 'self';form-action 'none';" +
          "frame-ancestors 'none';img-src 'self' data:;script-src 'self';style-src 'self' 'unsafe-inline'",
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'strict-transport-security': 'max-age=31536000',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
    },
  );

  it('responses have no ETag', async () => {
    const { headers } = await service.api.call('getAll', {}, { 'If-None-Match': '*' });
    expect(headers.get('etag')).toBeNull();
  });

  it('responses are readable by no other origin by default', async () => {
    for (const method of ['POST', 'OPTIONS']) {
      const { headers } = await service.api.request(GET_ALL, { method, headers: { Origin: SHOP, ...PREFLIGHT } });
      expect([corsOf(headers), headers.get('vary')]).toEqual([{}, null]);
    }
  });
});

describe('CORS_ORIGINS', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ env: { CORS_ORIGINS: `http://localhost:5173,${SHOP}` } });
  });
  afterAll(() => service.stop());

  const exposed =
    'X-Request-Id,Next-After,Idempotency-Replayed,Preference-Applied,Retry-After,RateLimit,RateLimit-Policy,Allow,WWW-Authenticate';

  it('CORS_ORIGINS allows preflight requests from pages of these origins', async () => {
    const { status, headers, body } = await service.api.request(GET_ALL, {
      method: 'OPTIONS',
      headers: { Origin: SHOP, ...PREFLIGHT },
    });
    expect([status, body, headers.get('allow')]).toEqual([204, undefined, 'POST, OPTIONS']);
    expect(corsOf(headers)).toEqual({
      'access-control-allow-origin': SHOP,
      'access-control-allow-methods': 'GET,HEAD,POST',
      'access-control-allow-headers': 'content-type,idempotency-key',
      'access-control-expose-headers': exposed,
      'access-control-max-age': '7200',
    });
    expect(headers.get('vary')).toBe('Origin, Access-Control-Request-Headers');
  });

  it.each([
    [200, '/api/orpc/items/create', JSON.stringify(validInput())],
    [400, GET_ALL, '{'],
    [404, '/nowhere', '{}'],
    [413, GET_ALL, ' '.repeat(1_100_000)],
  ])('CORS_ORIGINS lets pages of these origins read a response and its headers: %i', async (status, path, body) => {
    const response = await untilServed(() => service.api.post(path, body, { ...JSON_TYPE, Origin: SHOP }));
    expect(response.status).toBe(status);
    expect(corsOf(response.headers)).toEqual({
      'access-control-allow-origin': SHOP,
      'access-control-expose-headers': exposed,
    });
    expect(response.headers.get('vary')).toBe('Origin');
  });

  it.each(['https://evil.example', `${SHOP}.evil.example`, `${SHOP}:8443`, 'http://shop.example', 'null'])(
    'CORS_ORIGINS allows no other origin: %s',
    async (origin) => {
      for (const method of ['POST', 'OPTIONS']) {
        const { headers } = await service.api.request(GET_ALL, { method, headers: { Origin: origin, ...PREFLIGHT } });
        expect(headers.get('access-control-allow-origin')).toBeNull();
        expect(headers.get('vary')).toContain('Origin');
      }
    },
  );

  it('CORS_ORIGINS does not change responses to other methods and paths', async () => {
    const { status } = await service.api.request(GET_ALL, { method: 'PUT', headers: { Origin: SHOP } });
    expect(status).toBe(405);
    const unknown = await service.api.request('/nowhere', {
      method: 'OPTIONS',
      headers: { Origin: SHOP, ...PREFLIGHT },
    });
    expect(unknown.status).toBe(404);
  });
});

describe('connections', () => {
  let service: Service;
  const open: RawConnection[] = [];
  beforeAll(async () => {
    service = await startService({ worker: false });
  });
  afterEach(() => {
    for (const connection of open.splice(0)) connection.destroy();
  });
  afterAll(() => service.stop());

  const connect = async (to: RunningApi = service): Promise<RawConnection> => {
    const connection = await RawConnection.open(to.api.base);
    open.push(connection);
    return connection;
  };

  it('connections are kept alive for the next request, and closed after the announced idle timeout', async () => {
    const other = await startApi({ ...service.env, KEEP_ALIVE_MS: '3000' });
    const connection = await connect(other);
    let since = Date.now();
    for (let i = 0; i < 3; i += 1) {
      since = Date.now();
      const { status, headers } = await connection.send(HEALTH).nextResponse();
      expect([status, headers.get('connection'), headers.get('keep-alive')]).toEqual([200, 'keep-alive', 'timeout=3']);
    }
    expect(await connection.readToEnd()).toBe('');
    expect(Date.now() - since).toBeGreaterThan(2800);
    expect(connection.wasReset).toBe(false);
    await other.stop();
  });

  it('connections drop no header, however many there are', async () => {
    const many = Array.from({ length: 2500 }, () => 'a:\r\n').join('');
    const connection = await connect();
    const response = connection
      .send(REQUEST.replace('Content-Length', `${many}X-Request-Id: last\r\nContent-Length`))
      .nextResponse();
    expect((await response).headers.get('x-request-id')).toBe('last');
  });

  it('connections are not tunnels: CONNECT gets a 404', async () => {
    const connection = await connect();
    connection.send(`${HEALTH}CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n`);
    expect((await connection.nextResponse()).status).toBe(200);
    expectError(await connection.nextResponse<ErrorBody>(), 404, 'NOT_FOUND');
    expect(await connection.readToEnd()).toBe('');
  });

  it('connections survive a client that sends CONNECT after a slow request and disconnects', async () => {
    const body = JSON.stringify(validInput());
    const head = `POST /api/orpc/items/create HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nPrefer: wait=3\r\n`;
    const create = `${head}Content-Length: ${String(body.length)}\r\n\r\n${body}`;
    const [leaving, staying] = [await connect(), await connect()];
    leaving.send(`${create}CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n`);
    expect((await staying.send(HEALTH).nextResponse()).status).toBe(200);
    leaving.destroy();
    // This response comes after the one to the disconnected client.
    expect((await staying.send(create).nextResponse()).status).toBe(504);
    expect((await staying.send(HEALTH).nextResponse()).status).toBe(200);
  });

  it('connections are kept while another client sends several small requests with chunked bodies at once', async () => {
    const [slow, other] = [await connect(), await connect()];
    // Refused by their input, which takes no time of a store.
    const head = `POST ${GET_ALL} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    slow.send(`${head}Content-Length: 2\r\n\r\n[`);
    expect((await (await connect()).send(HEALTH).nextResponse()).status).toBe(200);
    const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n`;
    other.send(HEALTH + chunked.repeat(20));
    expect((await other.nextResponse()).status).toBe(200);
    expect((await slow.send(']').nextResponse()).status).toBe(400);
    for (let count = 0; count < 20; count += 1) expect((await other.nextResponse()).status).toBe(400);
  });

  it('connections beyond MAX_CONNECTIONS are closed immediately, until another one closes', async () => {
    const limited = await startApi({ ...service.env, MAX_CONNECTIONS: '5', KEEP_ALIVE_MS: '10000' });
    // Again while the connection of an earlier request is open, or if one has been idle for too long.
    const held = await eventually(async () => {
      for (const connection of open.splice(0)) connection.destroy();
      const held = await Promise.all(Array.from({ length: 5 }, () => connect(limited)));
      for (const connection of held) expect((await connection.send(HEALTH).nextResponse()).status).toBe(200);
      expect(await (await connect(limited)).readToEnd()).toBe('');
      return held;
    });
    held[0]?.destroy();
    await eventually(async () => {
      expect((await (await connect(limited)).send(HEALTH).nextResponse()).status).toBe(200);
    });
    await limited.stop();
  });
});

describe('a client that does not read its response', () => {
  let service: Service;
  beforeAll(async () => {
    const timeouts = { headersMs: 60_000, requestMs: 60_000, checkEveryMs: 100, stalledMs: STALLED_MS };
    // One connection only, so that the tests notice when it is free again.
    service = await startService({ worker: false, timeouts, env: { MAX_CONNECTIONS: '1', KEEP_ALIVE_MS: '1000' } });
    // 14.5 MB in all, of 2.4 MB in MongoDB: each character takes six bytes of JSON. A busy machine reads little in time.
    const description = '\u0001'.repeat(48_400);
    await store(service.database, ...Array.from({ length: 50 }, () => record({ description })));
  });
  afterAll(() => service.stop());

  /** Repeats the request until it succeeds: on a busy machine, reading such a page may take longer than a read may. */
  const startResponse = (): Promise<Socket> => eventually(sendRequest, 90_000);
  const sendRequest = async (): Promise<Socket> => {
    const { hostname, port } = new URL(service.api.base);
    const socket = connectTo({ host: hostname, port: Number(port) });
    socket.write(REQUEST);
    // Closed unread while another connection is open.
    const refused = once(socket, 'close').then(() => {
      throw new Error('refused');
    });
    try {
      const [data] = (await Promise.race([once(socket, 'data'), refused])) as [Buffer];
      expect(data.toString()).toMatch(/^HTTP\/1.1 200 /);
    } catch (error) {
      // It would be the one connection that is allowed.
      socket.destroy();
      throw error;
    }
    return socket.pause();
  };

  it('a client that does not read its response keeps its connection for a limited time and receives only part of the response', async () => {
    const stalling = await startResponse();
    expect(await (await RawConnection.open(service.api.base)).readToEnd()).toBe('');
    const other = await startResponse();
    other.destroy();
    let received = 0;
    stalling.on('data', (chunk: Buffer) => (received += chunk.length)).on('error', () => undefined);
    stalling.resume();
    await once(stalling, 'close');
    expect(received).toBeLessThan(11_600_000);
  });

  it('a client that does not read its response is disconnected even if it keeps sending', async () => {
    const stalling = await startResponse();
    stalling.write('GET / HTTP/1.1\r\nX: ');
    const sending = setInterval(() => stalling.write('x'), 100);
    const since = Date.now();
    await new Promise((resolve) => stalling.on('error', () => undefined).once('close', resolve));
    clearInterval(sending);
    expect(Date.now() - since).toBeLessThan(8000);
  });

  it('a client receives the whole response if it keeps reading slowly', async () => {
    const slow = await startResponse();
    const since = Date.now();
    let received = 0;
    slow.on('data', (chunk: Buffer) => {
      received += chunk.length;
      const aheadMs = received / BYTES_PER_MS - (Date.now() - since);
      if (aheadMs < 1) return;
      slow.pause();
      setTimeout(() => slow.resume(), aheadMs);
    });
    slow.resume();
    await once(slow, 'close');
    expect(slow.bytesRead).toBeGreaterThan(14_500_000);
    expect(Date.now() - since).toBeGreaterThan(STALLED_MS);
  });
});

describe('TRUST_PROXY', () => {
  afterAll(endProcesses);

  const FORWARDED = '198.51.100.1, 203.0.113.7';
  describe.each([
    ['', [[FORWARDED, '127.0.0.1']]],
    [
      'loopback',
      [
        [FORWARDED, '203.0.113.7'],
        ['203.0.113.7:80', '203.0.113.7'],
        ['unknown', '127.0.0.1'],
      ],
    ],
    ['1', [['unknown', '127.0.0.1']]],
    [
      '2',
      [
        [FORWARDED, '198.51.100.1'],
        ['2001:db8::1, 203.0.113.7', '2001:db8::1'],
        [`${'x'.repeat(5000)}, 203.0.113.7`, '127.0.0.1'],
      ],
    ],
  ])('%j', (TRUST_PROXY, cases) => {
    let api: ServiceProcess;
    beforeAll(() => {
      // Nothing listens there, so a read is refused and logged.
      const MONGODB_URI = 'mongodb://127.0.0.1:1/?replicaSet=rs0';
      api = ServiceProcess.start('api', { ...freshEnvironment({ TRUST_PROXY }), MONGODB_URI, LOG_LEVEL: 'info' });
    });
    afterAll(() => api.end('SIGKILL'));

    it.each(cases)('TRUST_PROXY determines the client address in the log: %s → %s', async (forwarded, ip) => {
      const headers = { 'X-Forwarded-For': forwarded, 'X-Request-Id': uniqueWord() };
      const { status } = await (await api.client()).callOnce('getAll', {}, headers);
      expect(status).toBe(503);
      await eventually(() => {
        const expected = { msg: 'MongoDB is unavailable', requestId: headers['X-Request-Id'], ip };
        expect(api.log).toContainEqual(expect.objectContaining(expected));
      });
    });
  });
});

describe('an error before Nest sees the request', () => {
  it.each(['GET', 'POST'])('an error before Nest sees the request gets the usual 500: %s', async (method) => {
    const seen: unknown[] = [];
    const fault = new Error('secret');
    const fail = (): never => {
      throw fault;
    };
    const connections = new Connections();
    const lane = new FastLane((_request, _response, next) => {
      next();
    });
    lane.app[method === 'GET' ? 'get' : 'post']('/', fail);
    const listener = requestListener({
      connections,
      lane,
      errors: {
        toApiError: (error) => {
          seen.push(error);
          return new ApiError('INTERNAL_SERVER_ERROR');
        },
      },
      maxBodyBytes: 1024,
      usualBodyBytes: 1024,
      crossOrigin: () => undefined,
      observers: [],
      isDraining: () => false,
    });
    const config = { keepAliveMs: 1000, maxConnections: 10 };
    const server = createHttpServer({ listener, connections, config, timeouts: undefined });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const response = await new ApiClient(`http://127.0.0.1:${String(port)}`).request<ErrorBody>('/', { method });
    server.close();
    expectError(response, 500, 'INTERNAL_SERVER_ERROR');
    expect(seen).toEqual([fault]);
  });
});
