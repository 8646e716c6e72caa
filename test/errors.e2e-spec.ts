import type { ErrorBody, InputIssue } from '@app/contracts';
import { untilServed, type ApiClient, type HttpResponse } from './support/api-client.js';
import { expectError } from './support/errors.js';
import { validInput } from './support/items.js';
import { startService, type Service } from './support/service.js';

const ITEMS = '/api/orpc/items';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const OPERATIONS = ['getAll', 'getById', 'create'].map((operation) => `${ITEMS}/${operation}`);
const HEALTH = ['/health/live', '/health/ready'];

describe('errors', () => {
  let service: Service;
  let api: ApiClient;
  beforeAll(async () => {
    service = await startService({ env: { MAX_BODY_BYTES: '4096' } });
    ({ api } = service);
  });
  afterAll(() => service.stop());

  const post = (
    body: NonNullable<RequestInit['body']>,
    headers: Record<string, string> = JSON_TYPE,
    path = `${ITEMS}/getAll`,
  ): Promise<HttpResponse<ErrorBody>> => untilServed(() => api.post(path, body, headers));

  describe('400', () => {
    it.each([
      '',
      ' ',
      '{',
      '{"page":1',
      '{"page":1}}',
      '{page:1}',
      "{'page':1}",
      '{"page":01}',
      '[1,]',
      'NaN',
      '\u0000',
    ])('malformed JSON is refused with a 400: %j', async (body) => {
      const response = await post(body);
      expectError(response, 400, 'BAD_REQUEST');
      expect(response.body.message).toBe('The body is not valid JSON in UTF-8');
      expect(response.body.data).toBeUndefined();
    });

    it.each([
      ['a lone continuation byte', '7b2273656172636822 3a 22 80 22 7d'],
      ['latin1', '7b2273656172636822 3a 22 fc 22 7d'],
      ['an overlong form', '7b2273656172636822 3a 22 c0af 22 7d'],
      ['an encoded surrogate', '7b2273656172636822 3a 22 eda080 22 7d'],
      ['a sequence cut off by the end', '7b2273656172636822 3a 22 22 7d f09f'],
      ['UTF-16', 'fffe7b007d00'],
    ])('invalid UTF-8 is refused with a 400: %s', async (_, hex) => {
      const response = await post(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
      expectError(response, 400, 'BAD_REQUEST');
      expect(response.body.message).toBe('The body is not valid JSON in UTF-8');
    });

    it('one byte order mark is ignored, but not two', async () => {
      expect((await post('\ufeff{}')).status).toBe(200);
      expectError(await post('\ufeff\ufeff{}'), 400, 'BAD_REQUEST');
    });

    it.each(['null', '[]', '"{}"', '1', 'true', '[{}]'])(
      'a body that is not an object is refused with a 400: %s',
      async (body) => {
        for (const path of OPERATIONS) {
          const response = await post(body, JSON_TYPE, path);
          expectError(response, 400, 'BAD_REQUEST');
          expect(issuesOf(response)).toEqual([{ path: [], message: expect.any(String) as string }]);
        }
      },
    );

    it('all issues of a body are reported at once, each with its path and a message', async () => {
      const wrong = {
        name: 'ab',
        description: 5,
        price: -1,
        categoryId: 'no such slug',
        stock: 1.5,
        brandId: '1',
        isFeatured: 'yes',
        images: [],
        photos: [1, 2, 3, 4, 5, 6],
      };
      const response = await api.call<ErrorBody>('create', wrong);
      expectError(response, 400, 'BAD_REQUEST');
      expect(response.body.message).toBe('Input validation failed');
      const issues = issuesOf(response);
      expect(issues.map(({ path }) => path).sort()).toEqual(
        [...Object.keys(wrong), 'conditionId'].sort().map((f) => [f]),
      );
      expect(issues.map((issue) => Object.keys(issue))).toEqual(issues.map(() => ['path', 'message']));
      expect(issues.filter(({ message }) => message.length < 10)).toEqual([]);
    });

    it('the path of each invalid element of an array is reported', async () => {
      const response = await api.call<ErrorBody>('create', validInput({ images: ['a', 1, null] }));
      expect(issuesOf(response).map(({ path }) => path)).toEqual([
        ['images', 1],
        ['images', 2],
      ]);
    });

    it.each([
      [{ page: '1' }, 'page'],
      [{ page: 0 }, 'page'],
      [{ page: 1.5 }, 'page'],
      [{ page: null }, 'page'],
      [{ pageSize: 101 }, 'pageSize'],
      [{ pageSize: true }, 'pageSize'],
      [{ status: 'lost' }, 'status'],
      [{ status: null }, 'status'],
      [{ search: ['x'] }, 'search'],
      [{ categoryId: 7 }, 'categoryId'],
      [{ userId: {} }, 'userId'],
    ])('getAll refuses %j without coercing it', async (input, field) => {
      const response = await api.call<ErrorBody>('getAll', input);
      expectError(response, 400, 'BAD_REQUEST');
      expect(issuesOf(response).map(({ path }) => path)).toEqual([[field]]);
    });
  });

  describe('404', () => {
    it.each([
      '/',
      '/api/orpc/items',
      '/api/orpc/items/',
      '/api/orpc/items/update',
      '/api/orpc/items/getall',
      '/api/orpc/items/getAll/',
      '/api/orpc/items//getAll',
      '//api/orpc/items/getAll',
      '/api/orpc/items/get%41ll',
      '/api/orpc/items/getAll%00',
      '/api/orpc/items/getAll;v=1',
      '/API/orpc/items/getAll',
      '/api/orpc/items/getAll/__batch__',
      '/__proto__',
      '/constructor',
      '/%',
    ])('the unknown path %s gets a 404, whatever the method', async (path) => {
      for (const method of ['POST', 'GET', 'OPTIONS', 'DELETE']) {
        const response = await api.request<ErrorBody>(path, { method });
        expectError(response, 404, 'NOT_FOUND');
        expect(response.headers.get('allow')).toBeNull();
      }
    });

    it('an unknown path gets a 404 with a plain error, even for an enveloped body', async () => {
      expectError(await post('{"json":{}}', JSON_TYPE, '/api/orpc/items/update'), 404, 'NOT_FOUND');
    });

    it('an item that does not exist gets a 404', async () => {
      expectError(await api.call<ErrorBody>('getById', { id: 'f'.repeat(24) }), 404, 'NOT_FOUND');
    });
  });

  describe('405', () => {
    const others = (known: string[]): string[] =>
      ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((method) => !known.includes(method));

    it.each(OPERATIONS)('other methods of %s get a 405 that lists the allowed ones', async (path) => {
      for (const method of others(['POST'])) {
        const response = await api.request<ErrorBody>(path, { method });
        expectError(response, 405, 'METHOD_NOT_SUPPORTED');
        expect(response.headers.get('allow')).toBe('POST, OPTIONS');
      }
    });

    it.each(HEALTH)('other methods of the health check %s get a 405 that lists the allowed ones', async (path) => {
      for (const method of others(['GET'])) {
        const response = await api.request<ErrorBody>(path, { method });
        expectError(response, 405, 'METHOD_NOT_SUPPORTED');
        expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
      }
    });

    it('HEAD gets a response with headers only', async () => {
      const { status, headers, body } = await api.request(`${ITEMS}/getAll`, { method: 'HEAD' });
      expect([status, headers.get('allow'), body]).toEqual([405, 'POST, OPTIONS', undefined]);
      expect((await api.request('/health/live', { method: 'HEAD' })).status).toBe(200);
    });

    it.each([...OPERATIONS, ...HEALTH])('OPTIONS of %s gets a 204 with Allow', async (path) => {
      const { status, headers, body } = await api.request(path, { method: 'OPTIONS' });
      expect([status, body]).toEqual([204, undefined]);
      expect(headers.get('allow')).toMatch(/^(POST|GET, HEAD), OPTIONS$/);
      expect(headers.get('x-request-id')).toBeTruthy();
    });
  });

  describe('415', () => {
    it.each([
      ['text/plain'],
      ['application/x-www-form-urlencoded'],
      ['multipart/form-data; boundary=x'],
      ['application/json; charset=latin1'],
      ['application/json; charset=utf-16'],
      ['application/json; charset="iso-8859-1"'],
      ['application/jsonx'],
      ['application/ld+json'],
      ['application/json, text/plain'],
      ['json'],
      ['*/*'],
    ])('the content type %s is refused with a 415', async (type) => {
      expectError(await post('{}', { 'Content-Type': type }), 415, 'UNSUPPORTED_MEDIA_TYPE');
    });

    it('a form with a file, as an oRPC client sends it, is refused with a 415', async () => {
      const form = new FormData();
      form.set('data', '{"json":{},"meta":[],"maps":[]}');
      form.set('0', new Blob(['x']), 'x.txt');
      expectError(await post(form, {}), 415, 'UNSUPPORTED_MEDIA_TYPE');
    });

    it('a body without a content type is refused with a 415', async () => {
      expectError(await post(Buffer.from('{}'), {}), 415, 'UNSUPPORTED_MEDIA_TYPE');
    });

    it.each(['gzip', 'br', 'deflate', 'identity, gzip', 'x-unknown'])(
      'the content encoding %s is refused with a 415',
      async (coding) => {
        const response = await post('{}', { ...JSON_TYPE, 'Content-Encoding': coding });
        expectError(response, 415, 'UNSUPPORTED_MEDIA_TYPE');
      },
    );

    it.each([
      'application/json;charset=utf-8',
      'application/json; charset=UTF-8',
      'Application/JSON; Charset="Utf-8"',
      'application/json ; charset=utf8',
      'application/json; profile=x; charset=utf-8',
      'application/json; version=2',
      'application/json;',
    ])('the content type %s is accepted', async (type) => {
      expect((await post('{}', { 'Content-Type': type })).status).toBe(200);
      expect((await post('{}', { 'Content-Type': type, 'Content-Encoding': 'Identity' })).status).toBe(200);
    });
  });

  describe('precedence', () => {
    const oversize = ' '.repeat(8192);
    it.each([
      ['404 before 405, 415, 413, 400', 404, 'PUT', `${ITEMS}/update`, 'text/plain', oversize],
      ['405 before 415, 413, 400', 405, 'PUT', `${ITEMS}/getAll`, 'text/plain', oversize],
      ['415 before 413, 400', 415, 'POST', `${ITEMS}/getAll`, 'text/plain', oversize],
      ['413 before 400', 413, 'POST', `${ITEMS}/getAll`, 'application/json', oversize],
      ['400', 400, 'POST', `${ITEMS}/getAll`, 'application/json', ' '],
    ])('the precedence of errors is %s', async (_, status, method, path, type, body) => {
      const response = await api.request<ErrorBody>(path, { method, body, headers: { 'Content-Type': type } });
      expect(response.body.status).toBe(status);
      expect(response.status).toBe(status);
    });
  });

  describe('X-Request-Id', () => {
    const GENERATED = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    const idFor = async (given: string, body = '{}'): Promise<string | null> =>
      (await post(body, { ...JSON_TYPE, 'X-Request-Id': given })).headers.get('x-request-id');

    it.each(['a', '7e8f-1', 'A.b:c+d/e=f@g_h', 'x'.repeat(128)])(
      'X-Request-Id is taken from the request: %s',
      async (given) => {
        expect(await idFor(given)).toBe(given);
        expect(await idFor(given, '{')).toBe(given);
      },
    );

    it.each(['', 'x'.repeat(129), 'a b', 'a,b', '<script>', '"x"', 'ü', '${jndi}', 'a\tb'])(
      'X-Request-Id is generated if that of the request is invalid: %j',
      async (given) => {
        expect(await idFor(given)).toMatch(GENERATED);
        expect(await idFor(given, '{')).toMatch(GENERATED);
      },
    );

    it('X-Request-Id is generated for each request that has none', async () => {
      const ids = await Promise.all(
        ['{}', '{', '{}'].map(async (body) => (await post(body)).headers.get('x-request-id')),
      );
      expect(new Set(ids).size).toBe(3);
      expect(ids.filter((id) => !GENERATED.test(id ?? ''))).toEqual([]);
    });
  });

  it('query strings are ignored', async () => {
    const query = '?page=0&__proto__[x]=1&a[b]=%ff&%00=%&?';
    const { status, body } = await post('{}', JSON_TYPE, `${ITEMS}/getAll${query}`);
    expect([status, body]).toEqual([200, []]);
  });

  it('responses do not reveal the software of the API in any header', async () => {
    for (const response of [await post('{}'), await post('{'), await api.request<ErrorBody>('/x', {})]) {
      expect(response.headers.get('x-powered-by')).toBeNull();
      expect(response.headers.get('server')).toBeNull();
      expect(response.headers.get('etag')).toBeNull();
    }
  });
});

function issuesOf({ body }: HttpResponse<ErrorBody>): InputIssue[] {
  return (body.data as { issues: InputIssue[] }).issues;
}
