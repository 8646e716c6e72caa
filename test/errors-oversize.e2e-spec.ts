import type { ErrorBody } from '@app/contracts';
import { untilServed } from './support/api-client.js';
import { expectError } from './support/errors.js';
import { eventually } from './support/eventually.js';
import { RawConnection } from './support/raw-connection.js';
import { startService, type Service } from './support/service.js';

const LIMIT = 65_536;
const MEBIBYTE = 1024 * 1024;
const GET_ALL = '/api/orpc/items/getAll';
const HEAD = `POST ${GET_ALL} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Request-Id: mine\r\n`;

describe('a body over the limit', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ env: { MAX_BODY_BYTES: String(LIMIT) } });
  });
  afterAll(() => service.stop());

  const connect = (): Promise<RawConnection> => RawConnection.open(service.api.base);
  const post = (body: NonNullable<RequestInit['body']>): ReturnType<typeof service.api.post<ErrorBody>> =>
    untilServed(() => service.api.post(GET_ALL, body, { 'Content-Type': 'application/json' }));

  it('a body over the limit is refused with a message that states the limit', async () => {
    const response = await post(' '.repeat(LIMIT + 1));
    expectError(response, 413, 'PAYLOAD_TOO_LARGE');
    expect(response.body.message).toBe('Body too large: at most 65536 bytes');
  });

  it('a body is refused from one byte above the limit', async () => {
    expect((await post('{}'.padEnd(LIMIT))).status).toBe(200);
    expect((await post('{}'.padEnd(LIMIT + 1))).status).toBe(413);
  });

  it('a chunked body is refused from one byte above the limit', async () => {
    for (const [length, status] of [
      [LIMIT, 200],
      [LIMIT + 1, 413],
    ] as const) {
      const chunks = `${chunk('{}')}${chunk(' '.repeat(length - 2))}0\r\n\r\n`;
      const response = await untilServed(async () => {
        const connection = await connect();
        const response = await connection.send(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${chunks}`).nextResponse();
        connection.destroy();
        return response;
      });
      expect(response.status).toBe(status);
    }
  });

  it('a body is measured in bytes, not in characters', async () => {
    expect((await post(JSON.stringify({ search: '🚲'.repeat(LIMIT / 4) }))).status).toBe(413);
  });

  it('a body over the limit is refused by its Content-Length before it arrives', async () => {
    const connection = await connect();
    const response = await connection.send(`${HEAD}Content-Length: 1000000000000\r\n\r\n`).nextResponse<ErrorBody>();
    expectError(response, 413, 'PAYLOAD_TOO_LARGE');
    expect(response.headers.get('x-request-id')).toBe('mine');
    expect(response.headers.get('connection')).toBe('close');
    connection.destroy();
  });

  it('a body over the limit is refused once too many chunks have arrived, before the last one', async () => {
    const connection = await connect();
    connection.send(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    for (let sent = 0; sent <= LIMIT; sent += 1024) connection.send(chunk('x'.repeat(1024)));
    expectError(await connection.nextResponse<ErrorBody>(), 413, 'PAYLOAD_TOO_LARGE');
    connection.destroy();
  });

  it.each(['Content-Length: 3145728', 'Transfer-Encoding: chunked'])(
    'a body over the limit may be sent to its end without losing the response (%s)',
    async (framing) => {
      const part = 'x'.repeat(MEBIBYTE);
      const bytes = framing.startsWith('T') ? chunk(part) : part;
      // The API reads the rest for two seconds only.
      await eventually(async () => {
        const connection = await connect();
        connection.send(`${HEAD}${framing}\r\n\r\n`).send(bytes);
        expectError(await connection.nextResponse<ErrorBody>(), 413, 'PAYLOAD_TOO_LARGE');
        connection
          .send(bytes)
          .send(bytes)
          .send(framing.startsWith('T') ? '0\r\n\r\n' : '');
        expect(await connection.readToEnd()).toBe('');
        expect(connection.wasReset).toBe(false);
      });
    },
  );

  it('a body over the limit gets a response even if the client sends 3 MiB before it reads', async () => {
    const responses = await Promise.all(Array.from({ length: 5 }, () => post(new Uint8Array(3 * MEBIBYTE))));
    expect(responses.map(({ status }) => status)).toEqual([413, 413, 413, 413, 413]);
  });

  it.each([
    ['Content-Length: 1000000000', ''],
    ['Transfer-Encoding: chunked', `${(1024 * MEBIBYTE).toString(16)}\r\n${'x'.repeat(LIMIT + 1)}`],
  ])('a body over the limit is cut off if it does not end (%s)', async (framing, begin) => {
    const connection = await connect();
    connection.send(`${HEAD}${framing}\r\n\r\n${begin}`);
    expect((await connection.nextResponse()).status).toBe(413);
    expect(await connection.sendUpTo(1024 * MEBIBYTE)).toBeLessThan(64 * MEBIBYTE);
    connection.destroy();
  });

  it('a body over the limit is refused without 100 Continue', async () => {
    const connection = await connect();
    connection.send(`${HEAD}Content-Length: ${String(LIMIT + 1)}\r\nExpect: 100-continue\r\n\r\n`);
    expectError(await connection.nextResponse<ErrorBody>(), 413, 'PAYLOAD_TOO_LARGE');
    connection.destroy();
  });

  it('a body over the limit is not read for a path that does not exist', async () => {
    const connection = await connect();
    const response = connection
      .send('POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n')
      .nextResponse<ErrorBody>();
    expectError(await response, 404, 'NOT_FOUND');
    connection.destroy();
  });

  it('a body over the limit is not read for a GET', async () => {
    const connection = await connect();
    connection.send('GET /health/live HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n');
    const { status, headers } = await connection.nextResponse();
    expect([status, headers.get('connection')]).toEqual([200, 'close']);
    connection.destroy();
  });
});

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
