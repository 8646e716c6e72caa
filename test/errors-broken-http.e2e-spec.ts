import type { ErrorBody, Item } from '@app/contracts';
import { expectError } from './support/errors.js';
import { uniqueWord, validInput } from './support/items.js';
import { RawConnection } from './support/raw-connection.js';
import { startService, type Service } from './support/service.js';

const GET_ALL = '/api/orpc/items/getAll';
const POST = `POST ${GET_ALL} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;

/** A request as bytes. */
function request(operation: string, input: object, more = ''): string {
  const body = JSON.stringify(input);
  const head = `POST /api/orpc/items/${operation} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${more}`;
  return `${head}Content-Length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`;
}

describe('a client that', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ timeouts: { headersMs: 300, requestMs: 600, checkEveryMs: 50 } });
  });
  afterAll(() => service.stop());

  const open: RawConnection[] = [];
  const send = async (bytes: string | Buffer): Promise<RawConnection> => {
    const connection = await RawConnection.open(service.api.base);
    open.push(connection);
    return connection.send(bytes);
  };
  afterEach(() => {
    for (const connection of open.splice(0)) connection.hangUp();
  });

  /** A create that comes later is done: an earlier one would be done, too. */
  const expectNotCreated = async (name: string): Promise<void> => {
    await service.api.create(validInput());
    expect(await service.database.models.items.countDocuments({ name })).toBe(0);
  };

  describe('is slow', () => {
    it('with its body is answered 408', async () => {
      const connection = await send(`${POST}X-Request-Id: mine\r\nContent-Length: 100\r\n\r\n{"page":`);
      const answer = await connection.answer<ErrorBody>();
      expectError(answer, 408, 'TIMEOUT');
      expect(answer.headers.get('x-request-id')).toBe('mine');
      expect(answer.headers.get('connection')).toBe('close');
      expect(await connection.rest()).toBe('');
    });

    it('with a body in chunks is answered 408', async () => {
      const connection = await send(`${POST}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n`);
      expectError(await connection.answer<ErrorBody>(), 408, 'TIMEOUT');
    });

    it.each(['', 'P', `POST ${GET_ALL} HTTP/1.1\r\n`, POST])('with its headers is answered 408: %j', async (bytes) => {
      const connection = await send(bytes);
      const answer = await connection.answer<ErrorBody>();
      expectError(answer, 408, 'TIMEOUT');
      expect(answer.headers.get('connection')).toBe('close');
      expect(await connection.rest()).toBe('');
    });

    it('with its second request is answered 408 after the first answer', async () => {
      const connection = await send(`${request('getAll', {})}${POST}Content-Length: 100\r\n\r\n{`);
      expect((await connection.answer()).status).toBe(200);
      expectError(await connection.answer<ErrorBody>(), 408, 'TIMEOUT');
    });

    it.each(['its headers', 'its body'])('with %s and goes on after the 408 creates nothing', async (what) => {
      const name = uniqueWord();
      const bytes = request('create', validInput({ name }));
      const cut = what === 'its body' ? bytes.length - 10 : 20;
      const connection = await send(bytes.slice(0, cut));
      expect((await connection.answer()).status).toBe(408);
      connection.send(bytes.slice(cut));
      expect(await connection.rest()).toBe('');
      await expectNotCreated(name);
    });
  });

  describe('sends headers that are too large', () => {
    it.each([
      ['in all', Array.from({ length: 200 }, (_, i) => `X-${String(i)}: ${'x'.repeat(100)}\r\n`).join('')],
      ['in one', `X-Long: ${'x'.repeat(20_000)}\r\n`],
      ['by far', `X-Long: ${'x'.repeat(3_000_000)}\r\n`],
    ])('%s is answered 431', async (_, headers) => {
      const connection = await send(`${POST}${headers}Content-Length: 2\r\n\r\n{}`);
      const answer = await connection.answer<ErrorBody>();
      expectError(answer, 431, 'REQUEST_HEADER_FIELDS_TOO_LARGE');
      expect(answer.headers.get('connection')).toBe('close');
      expect(await connection.rest()).toBe('');
      expect(connection.wasReset).toBe(false);
    });

    it('or too long an address is answered 431', async () => {
      const connection = await send(`POST ${GET_ALL}?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`);
      expectError(await connection.answer<ErrorBody>(), 431, 'REQUEST_HEADER_FIELDS_TOO_LARGE');
    });

    it('behind another request is answered 431 after the first answer', async () => {
      const connection = await send(`${request('getAll', {})}${POST}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`);
      expect((await connection.answer()).status).toBe(200);
      expectError(await connection.answer<ErrorBody>(), 431, 'REQUEST_HEADER_FIELDS_TOO_LARGE');
    });
  });

  describe('does not speak HTTP', () => {
    it.each([
      ['words', 'HELLO WORLD\r\n\r\n'],
      ['TLS', Buffer.from('16030100a5010000a10303', 'hex')],
      ['a method that does not exist', `FETCH ${GET_ALL} HTTP/1.1\r\nHost: x\r\n\r\n`],
      ['a version that does not exist', `POST ${GET_ALL} HTTP/9.9\r\nHost: x\r\n\r\n`],
      ['two lengths', `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `],
      ['a length and chunks', `${POST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
      ['no number for a length', `${POST}Content-Length: two\r\n\r\n{}`],
      ['a negative length', `${POST}Content-Length: -2\r\n\r\n{}`],
      ['an endless length', `${POST}Content-Length: ${'9'.repeat(30)}\r\n\r\n{}`],
      ['a path without a slash', 'GET health/live HTTP/1.1\r\nHost: x\r\n\r\n'],
      ['a header without a colon', `${POST}nonsense\r\n\r\n`],
      ['a NUL in a header', `${POST}X-Y: a\0b\r\n\r\n`],
      ['two hosts', `${POST}Content-Length: 2\r\nhost: y\r\n\r\n{}`],
      ['no host', `POST ${GET_ALL} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`],
    ])('is answered 400: %s', async (_, bytes) => {
      const connection = await send(bytes);
      const answer = await connection.answer<ErrorBody>();
      expectError(answer, 400, 'BAD_REQUEST');
      expect(answer.body.message).toBe('The request is not valid HTTP');
      expect(answer.headers.get('connection')).toBe('close');
      expect(await connection.rest()).toBe('');
    });

    it('but compresses on the way is answered 415', async () => {
      const connection = await send(`${POST}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`);
      expectError(await connection.answer<ErrorBody>(), 415, 'UNSUPPORTED_MEDIA_TYPE');
    });

    it('within a body is answered 400 with its own request id', async () => {
      const connection = await send(`${POST}X-Request-Id: mine\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nzz\r\n`);
      const answer = await connection.answer<ErrorBody>();
      expectError(answer, 400, 'BAD_REQUEST');
      expect(answer.headers.get('x-request-id')).toBe('mine');
      expect(await connection.rest()).toBe('');
    });

    it('any more after a request is answered that request first', async () => {
      const name = uniqueWord();
      const connection = await send(`${request('create', validInput({ name }))}HELLO WORLD\r\n\r\n`);
      const { status, body } = await connection.answer<Item>();
      expect([status, body.name]).toEqual([200, name]);
      expectError(await connection.answer<ErrorBody>(), 400, 'BAD_REQUEST');
    });

    it.each(['a\r\nX-Request-Id: b', 'a b', 'a\r\n b', 'é', '\t', 'x'.repeat(129)])(
      'properly in X-Request-Id gets another one: %j',
      async (id) => {
        const connection = await send(request('getAll', {}, `X-Request-Id: ${id}\r\n`));
        const { headers } = await connection.answer();
        expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      },
    );
  });

  describe('hangs up', () => {
    it.each([
      ['within its headers', POST],
      ['within its body', `${POST}Content-Length: 100\r\n\r\n{`],
      ['within a chunk', `${POST}Transfer-Encoding: chunked\r\n\r\n99\r\n{`],
      ['before its answer', request('getAll', {})],
      ['while its body is refused', `${POST}Content-Length: 100000000\r\n\r\n{`],
    ])('%s does no harm', async (_, bytes) => {
      const connections = await Promise.all(Array.from({ length: 20 }, () => send(bytes)));
      for (const connection of connections) connection.hangUp();
      expect((await service.api.call('getAll', {})).status).toBe(200);
    });

    it('within a create creates nothing', async () => {
      const name = uniqueWord();
      const connection = await send(request('create', validInput({ name })).slice(0, -1));
      connection.hangUp();
      await expectNotCreated(name);
    });

    it('only for sending, within its body, is answered 400', async () => {
      const connection = await send(`${POST}Content-Length: 100\r\n\r\n{}`);
      expectError(await connection.endSending().answer<ErrorBody>(), 400, 'BAD_REQUEST');
    });
  });

  describe('sends several requests at once', () => {
    it('is answered in their order', async () => {
      const health = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
      const connection = await send(
        [request('create', validInput()), request('getById', { id: 'x' }), health, request('getAll', {})].join(''),
      );
      const answers = [];
      for (let i = 0; i < 4; i++) answers.push(await connection.answer());
      expect(answers.map(({ status }) => status)).toEqual([200, 404, 200, 200]);
      expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(4);
    });

    it('has nothing done behind an answer that closes the connection', async () => {
      const name = uniqueWord();
      const create = request('create', validInput({ name }));
      const refused = 'POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}';
      const connection = await send(`${refused}${create}`);
      const answer = await connection.answer();
      expect([answer.status, answer.headers.get('connection')]).toEqual([404, 'close']);
      expect(await connection.rest()).toBe('');
      await expectNotCreated(name);
    });

    it('is answered in their order also where a body in chunks waits', async () => {
      const name = uniqueWord();
      const health = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
      const chunked = `${POST}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`;
      const connection = await send(
        `${health}${request('getAll', {})}${chunked}${request('create', validInput({ name }))}`,
      );
      expect((await connection.answer()).status).toBe(200);
      expect((await connection.answer()).status).toBe(200);
      expect((await connection.answer()).status).toBe(200);
      const { status, body } = await connection.answer<Item>();
      expect([status, body.name]).toEqual([200, name]);
    });

    it('is answered in their order also where the last breaks off', async () => {
      const health = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
      const connection = await send(`${request('getAll', {})}${health}${POST}Content-Length: 100\r\n\r\n{`);
      expect((await connection.answer()).status).toBe(200);
      expect((await connection.answer()).status).toBe(200);
      expectError(await connection.answer<ErrorBody>(), 408, 'TIMEOUT');
      expect(await connection.rest()).toBe('');
    });
  });

  describe('asks first', () => {
    it('is told to go on, and answered', async () => {
      const [head = '', body = ''] = request('getAll', {}, 'Expect: 100-continue\r\n').split('\r\n\r\n');
      const connection = await send(`${head}\r\n\r\n`);
      expect((await connection.answer()).status).toBe(100);
      expect((await connection.send(body).answer()).status).toBe(200);
    });

    it.each([
      [404, 'NOT_FOUND', request('update', {}, 'Expect: 100-continue\r\n')],
      [415, 'UNSUPPORTED_MEDIA_TYPE', request('getAll', {}, 'Content-Encoding: gzip\r\nExpect: 100-continue\r\n')],
    ])('is not told to go on with what is refused: %i', async (status, code, bytes) => {
      const connection = await send(bytes.slice(0, -2));
      expectError(await connection.answer<ErrorBody>(), status, code);
    });

    it('for what is unknown is answered all the same', async () => {
      const connection = await send(request('getAll', {}, 'Expect: miracles\r\n'));
      expect((await connection.answer()).status).toBe(100);
      expect((await connection.answer()).status).toBe(200);
    });
  });

  describe('is old, or takes the service for a proxy', () => {
    it('is answered in HTTP/1.0', async () => {
      const connection = await send(`POST ${GET_ALL} HTTP/1.0\r\n\r\n`);
      const { status, headers } = await connection.answer();
      expect([status, headers.get('connection')]).toEqual([200, 'close']);
      expect(await connection.rest()).toBe('');
    });

    it.each(['http://items.example', 'HTTPS://u:p@[::1]:99999', 'http://%00'])('is answered at %s', async (origin) => {
      const connection = await send(request('getAll', {}).replace('/api', `${origin}/api`));
      expect((await connection.answer()).status).toBe(200);
    });

    it.each(['OPTIONS *', 'GET http://items.example', 'GET http://items.example?/health/live'])(
      'is answered 404: %s',
      async (line) => {
        const connection = await send(`${line} HTTP/1.1\r\nHost: x\r\n\r\n`);
        expectError(await connection.answer<ErrorBody>(), 404, 'NOT_FOUND');
      },
    );

    it('wants another protocol is answered in this one', async () => {
      const connection = await send(request('getAll', {}, 'Connection: Upgrade\r\nUpgrade: h2c\r\n'));
      expect((await connection.answer()).status).toBe(200);
    });
  });
});
