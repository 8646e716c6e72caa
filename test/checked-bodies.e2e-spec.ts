import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { ErrorBody } from '@app/contracts';
import { sendJson, type ApiRequest, type ApiResponse } from '../apps/api/src/http/api-message.js';
import { ApiError } from '../apps/api/src/http/api-error.js';
import { Connections } from '../apps/api/src/http/connections/connections.js';
import { createHttpServer } from '../apps/api/src/http/connections/server.js';
import { FastLane } from '../apps/api/src/http/fast-lane.js';
import { requestListener } from '../apps/api/src/http/request-listener.js';
import { expectError } from './support/errors.js';
import { eventually } from './support/eventually.js';
import { RawConnection } from './support/raw-connection.js';

const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
const MAX_BYTES = 1024;

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

describe('a chunked body that arrives while its caller is checked', () => {
  const connections = new Connections();
  let end: ((error?: ApiError) => void) | undefined;
  let connection: RawConnection;

  const lane = new FastLane((_request, _response, next) => {
    next();
  });
  lane.app.post('/', ((request: ApiRequest, response: ApiResponse) => {
    sendJson(response, 200, request.body);
  }) as never);
  const listener = requestListener({
    connections,
    lane,
    errors: { toApiError: (error) => error as ApiError },
    maxBodyBytes: MAX_BYTES,
    usualBodyBytes: MAX_BYTES,
    crossOrigin: () => undefined,
    observers: [],
    isDraining: () => false,
    checkAccess: () =>
      new Promise((resolve, reject) => {
        end = (error) => {
          if (error === undefined) resolve();
          else reject(error);
        };
      }),
  });
  const config = { keepAliveMs: 1000, maxConnections: 10 };
  const server = createHttpServer({ listener, connections, config, timeouts: undefined });

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(async () => {
    end = undefined;
    const { port } = server.address() as AddressInfo;
    connection = await RawConnection.open(`http://127.0.0.1:${String(port)}`);
  });
  afterEach(() => {
    connection.destroy();
  });
  afterAll(() => server.close());

  /** Resolves once the check has begun, and everything that was sent before it is read. */
  const checking = (): Promise<void> =>
    eventually(() => {
      expect(end).toBeDefined();
    });

  it('a chunked body is complete if it ends before the check', async () => {
    connection.send(`${HEAD}${chunk('{"a":')}${chunk('1}')}0\r\n\r\n`);
    await checking();
    end?.();
    expect(await connection.nextResponse()).toMatchObject({ status: 200, body: { a: 1 } });
  });

  it('a chunked body is complete if it ends after the check', async () => {
    connection.send(`${HEAD}${chunk('{"a":')}`);
    await checking();
    end?.();
    connection.send(`${chunk('1}')}0\r\n\r\n`);
    expect(await connection.nextResponse()).toMatchObject({ status: 200, body: { a: 1 } });
  });

  it('a chunked body gets 413 after the check if it is too large', async () => {
    connection.send(`${HEAD}${chunk('x'.repeat(MAX_BYTES))}${chunk('x')}`);
    await checking();
    end?.();
    expectError(await connection.nextResponse<ErrorBody>(), 413, 'PAYLOAD_TOO_LARGE');
  });

  it('a chunked body is dropped if the caller is rejected', async () => {
    connection.send(`${HEAD}${chunk('{"a":')}`);
    await checking();
    end?.(new ApiError('UNAUTHORIZED'));
    expectError(await connection.nextResponse<ErrorBody>(), 401, 'UNAUTHORIZED');
    connection.send(`${chunk('1}')}0\r\n\r\n`);
    expect(await connection.readToEnd()).toBe('');
  });
});
