import type { ErrorBody } from '@app/contracts';
import { expectError } from './support/errors.js';
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
    service.api.post(GET_ALL, body, { 'Content-Type': 'application/json' });

  it('is told the limit', async () => {
    const answer = await post(' '.repeat(LIMIT + 1));
    expectError(answer, 413, 'PAYLOAD_TOO_LARGE');
    expect(answer.body.message).toBe('Body too large: at most 65536 bytes');
  });

  it('begins one byte behind the limit', async () => {
    expect((await post('{}'.padEnd(LIMIT))).status).toBe(200);
    expect((await post('{}'.padEnd(LIMIT + 1))).status).toBe(413);
  });

  it('begins one byte behind the limit also where the body comes in chunks', async () => {
    for (const [length, status] of [
      [LIMIT, 200],
      [LIMIT + 1, 413],
    ] as const) {
      const connection = await connect();
      connection.send(
        `${HEAD}Transfer-Encoding: chunked\r\n\r\n${chunk('{}')}${chunk(' '.repeat(length - 2))}0\r\n\r\n`,
      );
      expect((await connection.answer()).status).toBe(status);
      connection.hangUp();
    }
  });

  it('is counted in bytes', async () => {
    expect((await post(JSON.stringify({ search: '🚲'.repeat(LIMIT / 4) }))).status).toBe(413);
  });

  it('is refused by its Content-Length, before it comes', async () => {
    const connection = await connect();
    const answer = await connection.send(`${HEAD}Content-Length: 1000000000000\r\n\r\n`).answer<ErrorBody>();
    expectError(answer, 413, 'PAYLOAD_TOO_LARGE');
    expect(answer.headers.get('x-request-id')).toBe('mine');
    expect(answer.headers.get('connection')).toBe('close');
    connection.hangUp();
  });

  it('is refused once too many chunks have come, before the last', async () => {
    const connection = await connect();
    connection.send(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    for (let sent = 0; sent <= LIMIT; sent += 1024) connection.send(chunk('x'.repeat(1024)));
    expectError(await connection.answer<ErrorBody>(), 413, 'PAYLOAD_TOO_LARGE');
    connection.hangUp();
  });

  it.each(['Content-Length: 3145728', 'Transfer-Encoding: chunked'])(
    'may be sent on after the answer, which is not lost (%s)',
    async (framing) => {
      const part = 'x'.repeat(MEBIBYTE);
      const bytes = framing.startsWith('T') ? chunk(part) : part;
      const connection = await connect();
      connection.send(`${HEAD}${framing}\r\n\r\n`).send(bytes);
      expectError(await connection.answer<ErrorBody>(), 413, 'PAYLOAD_TOO_LARGE');
      connection
        .send(bytes)
        .send(bytes)
        .send(framing.startsWith('T') ? '0\r\n\r\n' : '');
      expect(await connection.rest()).toBe('');
      expect(connection.wasReset).toBe(false);
    },
  );

  it('of 3 MiB, all sent before anything is read, is answered', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(new Uint8Array(3 * MEBIBYTE))));
    expect(answers.map(({ status }) => status)).toEqual([413, 413, 413, 413, 413]);
  });

  it.each([
    ['Content-Length: 1000000000', ''],
    ['Transfer-Encoding: chunked', `${(1024 * MEBIBYTE).toString(16)}\r\n${'x'.repeat(LIMIT + 1)}`],
  ])('that does not end is cut off (%s)', async (framing, begin) => {
    const connection = await connect();
    connection.send(`${HEAD}${framing}\r\n\r\n${begin}`);
    expect((await connection.answer()).status).toBe(413);
    expect(await connection.sendOn(1024 * MEBIBYTE)).toBeLessThan(64 * MEBIBYTE);
    connection.hangUp();
  });

  it('is not asked for where the client waits to be asked', async () => {
    const connection = await connect();
    connection.send(`${HEAD}Content-Length: ${String(LIMIT + 1)}\r\nExpect: 100-continue\r\n\r\n`);
    expectError(await connection.answer<ErrorBody>(), 413, 'PAYLOAD_TOO_LARGE');
    connection.hangUp();
  });

  it('of a path that does not exist is not read either', async () => {
    const connection = await connect();
    const answer = connection
      .send('POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n')
      .answer<ErrorBody>();
    expectError(await answer, 404, 'NOT_FOUND');
    connection.hangUp();
  });

  it('of a GET is not read either', async () => {
    const connection = await connect();
    connection.send('GET /health/live HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n');
    const { status, headers } = await connection.answer();
    expect([status, headers.get('connection')]).toEqual([200, 'close']);
    connection.hangUp();
  });
});

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
