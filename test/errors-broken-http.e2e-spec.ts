import type { ErrorBody, Item } from '@app/contracts';
import { untilServed, type HttpResponse } from './support/api-client.js';
import { expectError } from './support/errors.js';
import { eventually } from './support/eventually.js';
import { uniqueWord, validInput } from './support/items.js';
import { RawConnection } from './support/raw-connection.js';
import { startService, type Service } from './support/service.js';

const GET_ALL = '/api/orpc/items/getAll';
const HEALTH = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
const POST = `POST ${GET_ALL} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;

/** Returns a request as sent on the wire. */
function request(operation: string, input: object, more = ''): string {
  const body = JSON.stringify(input);
  const head = `POST /api/orpc/items/${operation} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${more}`;
  return `${head}Content-Length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`;
}

describe('a client that', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const open: RawConnection[] = [];
  const send = async (bytes: string | Buffer, to = service): Promise<RawConnection> => {
    const connection = await RawConnection.open(to.api.base);
    open.push(connection);
    return connection.send(bytes);
  };
  /** Returns the response to one request, which is sent again while it gets a 503. */
  const respond = <Body>(bytes: string): Promise<HttpResponse<Body>> =>
    untilServed(async () => (await send(bytes)).nextResponse<Body>());
  afterEach(() => {
    for (const connection of open.splice(0)) connection.destroy();
  });

  /** Sends another create first: once it is done, an earlier one would be done too. */
  const expectNotCreated = async (name: string, by = service): Promise<void> => {
    // Again if it was too slow itself.
    await eventually(() => by.api.create(validInput()));
    expect(await by.database.models.items.countDocuments({ name })).toBe(0);
  };

  describe('is slow', () => {
    let impatient: Service;
    beforeAll(async () => {
      impatient = await startService({ timeouts: { headersMs: 300, requestMs: 600, checkEveryMs: 50 } });
    });
    afterAll(() => impatient.stop());

    const sendSlowly = (bytes: string): Promise<RawConnection> => send(bytes, impatient);

    it('a slow client gets 408 during its body', async () => {
      const connection = await sendSlowly(`${POST}X-Request-Id: mine\r\nContent-Length: 100\r\n\r\n{"page":`);
      const response = await connection.nextResponse<ErrorBody>();
      expectError(response, 408, 'TIMEOUT');
      expect(response.headers.get('x-request-id')).toBe('mine');
      expect(response.headers.get('connection')).toBe('close');
      expect(await connection.readToEnd()).toBe('');
    });

    it('a slow client gets 408 during a chunked body', async () => {
      const connection = await sendSlowly(`${POST}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n`);
      expectError(await connection.nextResponse<ErrorBody>(), 408, 'TIMEOUT');
    });

    it.each(['', 'P', `POST ${GET_ALL} HTTP/1.1\r\n`, POST])(
      'a slow client gets 408 during its headers: %j',
      async (bytes) => {
        const connection = await sendSlowly(bytes);
        const response = await connection.nextResponse<ErrorBody>();
        expectError(response, 408, 'TIMEOUT');
        expect(response.headers.get('connection')).toBe('close');
        expect(await connection.readToEnd()).toBe('');
      },
    );

    it('a slow client gets 408 for its second request after the response to the first', async () => {
      // On a busy machine, the first may be too slow as well.
      await eventually(async () => {
        const connection = await sendSlowly(`${HEALTH}${POST}Content-Length: 100\r\n\r\n{`);
        expect((await connection.nextResponse()).status).toBe(200);
        expectError(await connection.nextResponse<ErrorBody>(), 408, 'TIMEOUT');
      });
    });

    it.each(['its headers', 'its body'])(
      'a slow client creates nothing if it sends the rest of %s after the 408',
      async (what) => {
        const name = uniqueWord();
        const bytes = request('create', validInput({ name }));
        const sentBytes = what === 'its body' ? bytes.length - 10 : 20;
        const connection = await sendSlowly(bytes.slice(0, sentBytes));
        expect((await connection.nextResponse()).status).toBe(408);
        connection.send(bytes.slice(sentBytes));
        expect(await connection.readToEnd()).toBe('');
        await expectNotCreated(name, impatient);
      },
    );

    it('a client that sends several requests at once gets the responses in request order even if the last request is incomplete', async () => {
      const requests = `${request('getById', { id: 'x' })}${HEALTH}${POST}Content-Length: 100\r\n\r\n{`;
      await eventually(async () => {
        const connection = await sendSlowly(requests);
        expect((await connection.nextResponse()).status).toBe(404);
        expect((await connection.nextResponse()).status).toBe(200);
        expectError(await connection.nextResponse<ErrorBody>(), 408, 'TIMEOUT');
        expect(await connection.readToEnd()).toBe('');
      });
    });
  });

  describe('sends headers that are too large', () => {
    it.each([
      ['in all', Array.from({ length: 200 }, (_, i) => `X-${String(i)}: ${'x'.repeat(100)}\r\n`).join('')],
      ['in one', `X-Long: ${'x'.repeat(20_000)}\r\n`],
      ['by far', `X-Long: ${'x'.repeat(3_000_000)}\r\n`],
    ])('a client gets 431 for headers that are too large: %s', async (_, headers) => {
      const connection = await send(`${POST}${headers}Content-Length: 2\r\n\r\n{}`);
      const response = await connection.nextResponse<ErrorBody>();
      expectError(response, 431, 'REQUEST_HEADER_FIELDS_TOO_LARGE');
      expect(response.headers.get('connection')).toBe('close');
      expect(await connection.readToEnd()).toBe('');
      expect(connection.wasReset).toBe(false);
    });

    it('a client gets 431 for a URL that is too long', async () => {
      const connection = await send(`POST ${GET_ALL}?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`);
      expectError(await connection.nextResponse<ErrorBody>(), 431, 'REQUEST_HEADER_FIELDS_TOO_LARGE');
    });

    it('a client gets 431 for headers that are too large after the response to an earlier request', async () => {
      const connection = await send(`${HEALTH}${POST}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`);
      expect((await connection.nextResponse()).status).toBe(200);
      expectError(await connection.nextResponse<ErrorBody>(), 431, 'REQUEST_HEADER_FIELDS_TOO_LARGE');
    });
  });

  describe('sends invalid HTTP', () => {
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
    ])('a client that sends invalid HTTP gets 400: %s', async (_, bytes) => {
      const connection = await send(bytes);
      const response = await connection.nextResponse<ErrorBody>();
      expectError(response, 400, 'BAD_REQUEST');
      expect(response.body.message).toBe('The request is not valid HTTP');
      expect(response.headers.get('connection')).toBe('close');
      expect(await connection.readToEnd()).toBe('');
    });

    it('a client gets 415 for a compressed transfer coding', async () => {
      const connection = await send(`${POST}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`);
      expectError(await connection.nextResponse<ErrorBody>(), 415, 'UNSUPPORTED_MEDIA_TYPE');
    });

    it('a client gets 400 with its own request id for an invalid chunk', async () => {
      const connection = await send(`${POST}X-Request-Id: mine\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nzz\r\n`);
      const response = await connection.nextResponse<ErrorBody>();
      expectError(response, 400, 'BAD_REQUEST');
      expect(response.headers.get('x-request-id')).toBe('mine');
      expect(await connection.readToEnd()).toBe('');
    });

    it('a client gets the response to a valid request before the 400 for invalid HTTP', async () => {
      const name = uniqueWord();
      const connection = await send(`${request('create', validInput({ name }))}HELLO WORLD\r\n\r\n`);
      const { status, body } = await connection.nextResponse<Item>();
      expect([status, body.name]).toEqual([200, name]);
      expectError(await connection.nextResponse<ErrorBody>(), 400, 'BAD_REQUEST');
    });

    it.each(['a\r\nX-Request-Id: b', 'a b', 'a\r\n b', 'é', '\t', 'x'.repeat(129)])(
      'a client gets a generated request id instead of an invalid one: %j',
      async (id) => {
        const connection = await send(request('getAll', {}, `X-Request-Id: ${id}\r\n`));
        const { headers } = await connection.nextResponse();
        expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      },
    );
  });

  describe('disconnects', () => {
    it.each([
      ['within its headers', POST],
      ['within its body', `${POST}Content-Length: 100\r\n\r\n{`],
      ['within a chunk', `${POST}Transfer-Encoding: chunked\r\n\r\n99\r\n{`],
      ['before its response', request('getAll', {})],
      ['while its body is refused', `${POST}Content-Length: 100000000\r\n\r\n{`],
    ])('a client that disconnects does no harm: %s', async (_, bytes) => {
      const connections = await Promise.all(Array.from({ length: 20 }, () => send(bytes)));
      for (const connection of connections) connection.destroy();
      expect((await service.api.call('getAll', {})).status).toBe(200);
    });

    it('a client that disconnects within a create creates nothing', async () => {
      const name = uniqueWord();
      const connection = await send(request('create', validInput({ name })).slice(0, -1));
      connection.destroy();
      await expectNotCreated(name);
    });

    it('a client gets 400 if it half-closes the connection within its body', async () => {
      const connection = await send(`${POST}Content-Length: 100\r\n\r\n{}`);
      expectError(await connection.halfClose().nextResponse<ErrorBody>(), 400, 'BAD_REQUEST');
    });
  });

  describe('sends several requests at once', () => {
    it('a client that sends several requests at once gets the responses in request order', async () => {
      const requests = [
        request('create', validInput()),
        request('getById', { id: 'x' }),
        HEALTH,
        request('getAll', {}),
      ];
      await eventually(async () => {
        const connection = await send(requests.join(''));
        const responses = [];
        for (let i = 0; i < 4; i++) responses.push(await connection.nextResponse());
        expect(responses.map(({ status }) => status)).toEqual([200, 404, 200, 200]);
        expect(new Set(responses.map(({ headers }) => headers.get('x-request-id'))).size).toBe(4);
      });
    });

    it('a client that sends several requests at once has nothing processed after a response that closes the connection', async () => {
      const name = uniqueWord();
      const create = request('create', validInput({ name }));
      const refused = 'POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}';
      const connection = await send(`${refused}${create}`);
      const response = await connection.nextResponse();
      expect([response.status, response.headers.get('connection')]).toEqual([404, 'close']);
      expect(await connection.readToEnd()).toBe('');
      await expectNotCreated(name);
    });

    it('a client that sends several requests at once gets the responses in request order even with a chunked body in between', async () => {
      const name = uniqueWord();
      const chunked = `${POST}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`;
      await eventually(async () => {
        const connection = await send(
          `${HEALTH}${request('getAll', {})}${chunked}${request('create', validInput({ name }))}`,
        );
        expect((await connection.nextResponse()).status).toBe(200);
        expect((await connection.nextResponse()).status).toBe(200);
        expect((await connection.nextResponse()).status).toBe(200);
        const { status, body } = await connection.nextResponse<Item>();
        expect([status, body.name]).toEqual([200, name]);
      });
    });
  });

  it('a client that sends a path with a fragment gets 400, because Express would ignore the fragment', async () => {
    const connection = await send(`POST ${GET_ALL}#x HTTP/1.1\r\nHost: x\r\n\r\n`);
    expectError(await connection.nextResponse<ErrorBody>(), 400, 'BAD_REQUEST');
  });

  describe('sends an Expect header', () => {
    it('a client that sends an Expect header gets 100 and then the response', async () => {
      const [head = '', body = ''] = request('getAll', {}, 'Expect: 100-continue\r\n').split('\r\n\r\n');
      await eventually(async () => {
        const connection = await send(`${head}\r\n\r\n`);
        expect((await connection.nextResponse()).status).toBe(100);
        expect((await connection.send(body).nextResponse()).status).toBe(200);
      });
    });

    it.each([
      [404, 'NOT_FOUND', request('update', {}, 'Expect: 100-continue\r\n')],
      [415, 'UNSUPPORTED_MEDIA_TYPE', request('getAll', {}, 'Content-Encoding: gzip\r\nExpect: 100-continue\r\n')],
    ])('a client that sends an Expect header gets the error instead of 100: %i', async (status, code, bytes) => {
      const connection = await send(bytes.slice(0, -2));
      expectError(await connection.nextResponse<ErrorBody>(), status, code);
    });

    it('a client gets 100 and then the response for an unknown expectation too', async () => {
      await eventually(async () => {
        const connection = await send(request('getAll', {}, 'Expect: miracles\r\n'));
        expect((await connection.nextResponse()).status).toBe(100);
        expect((await connection.nextResponse()).status).toBe(200);
      });
    });
  });

  describe('uses rare features of HTTP', () => {
    it('a client gets a response to HTTP/1.0 and a closed connection', async () => {
      await eventually(async () => {
        const connection = await send(`POST ${GET_ALL} HTTP/1.0\r\n\r\n`);
        const { status, headers } = await connection.nextResponse();
        expect([status, headers.get('connection')]).toEqual([200, 'close']);
        expect(await connection.readToEnd()).toBe('');
      });
    });

    it.each(['http://items.example', 'HTTPS://u:p@[::1]:99999', 'http://%00'])(
      'a client that sends an absolute URL is served at %s',
      async (origin) => {
        expect((await respond(request('getAll', {}).replace('/api', `${origin}/api`))).status).toBe(200);
      },
    );

    it.each(['OPTIONS *', 'GET http://items.example', 'GET http://items.example?/health/live'])(
      'a client that sends no path gets 404: %s',
      async (line) => {
        const connection = await send(`${line} HTTP/1.1\r\nHost: x\r\n\r\n`);
        expectError(await connection.nextResponse<ErrorBody>(), 404, 'NOT_FOUND');
      },
    );

    it('a client that asks for an upgrade gets an HTTP/1.1 response', async () => {
      const upgrade = 'Connection: Upgrade\r\nUpgrade: h2c\r\n';
      expect((await respond(request('getAll', {}, upgrade))).status).toBe(200);
    });
  });
});
