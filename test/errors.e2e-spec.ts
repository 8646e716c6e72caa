import type { ErrorBody, InputIssue, Item } from '@app/contracts';
import type { Answer, ApiClient } from './support/api-client.js';
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
  ): Promise<Answer<ErrorBody>> => api.post(path, body, headers);

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
    ])('answers malformed JSON: %j', async (body) => {
      const answer = await post(body);
      expectError(answer, 400, 'BAD_REQUEST');
      expect(answer.body.message).toBe('The body is not valid JSON in UTF-8');
      expect(answer.body.data).toBeUndefined();
    });

    it.each([
      ['a lone continuation byte', '7b2273656172636822 3a 22 80 22 7d'],
      ['latin1', '7b2273656172636822 3a 22 fc 22 7d'],
      ['an overlong form', '7b2273656172636822 3a 22 c0af 22 7d'],
      ['an encoded surrogate', '7b2273656172636822 3a 22 eda080 22 7d'],
      ['a sequence cut off by the end', '7b2273656172636822 3a 22 22 7d f09f'],
      ['UTF-16', 'fffe7b007d00'],
    ])('answers bad UTF-8: %s', async (_, hex) => {
      const answer = await post(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
      expectError(answer, 400, 'BAD_REQUEST');
      expect(answer.body.message).toBe('The body is not valid JSON in UTF-8');
    });

    it('passes over one byte order mark, not over two', async () => {
      expect((await post('\ufeff{}')).status).toBe(200);
      expectError(await post('\ufeff\ufeff{}'), 400, 'BAD_REQUEST');
    });

    it.each(['null', '[]', '"{}"', '1', 'true', '[{}]'])('answers a body that is no object: %s', async (body) => {
      for (const path of OPERATIONS) {
        const answer = await post(body, JSON_TYPE, path);
        expectError(answer, 400, 'BAD_REQUEST');
        expect(issuesOf(answer)).toEqual([{ path: [], message: expect.any(String) as string }]);
      }
    });

    it('reports all issues of a body at once, each with its path and what is wrong', async () => {
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
      const answer = await api.call<ErrorBody>('create', wrong);
      expectError(answer, 400, 'BAD_REQUEST');
      expect(answer.body.message).toBe('Input validation failed');
      const issues = issuesOf(answer);
      expect(issues.map(({ path }) => path).sort()).toEqual(
        [...Object.keys(wrong), 'conditionId'].sort().map((f) => [f]),
      );
      expect(issues.map((issue) => Object.keys(issue))).toEqual(issues.map(() => ['path', 'message']));
      expect(issues.filter(({ message }) => message.length < 10)).toEqual([]);
    });

    it('names the element of an array that is wrong', async () => {
      const answer = await api.call<ErrorBody>('create', validInput({ images: ['a', 1, null] }));
      expect(issuesOf(answer).map(({ path }) => path)).toEqual([
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
    ])('never coerces %j of a list', async (input, field) => {
      const answer = await api.call<ErrorBody>('getAll', input);
      expectError(answer, 400, 'BAD_REQUEST');
      expect(issuesOf(answer).map(({ path }) => path)).toEqual([[field]]);
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
    ])('answers the unknown path %s, whatever the method', async (path) => {
      for (const method of ['POST', 'GET', 'OPTIONS', 'DELETE']) {
        const answer = await api.request<ErrorBody>(path, { method });
        expectError(answer, 404, 'NOT_FOUND');
        expect(answer.headers.get('allow')).toBeNull();
      }
    });

    it('answers an unknown path plain, whatever form the body has', async () => {
      expectError(await post('{"json":{}}', JSON_TYPE, '/api/orpc/items/update'), 404, 'NOT_FOUND');
    });

    it('answers an item that does not exist', async () => {
      expectError(await api.call<ErrorBody>('getById', { id: 'f'.repeat(24) }), 404, 'NOT_FOUND');
    });
  });

  describe('405', () => {
    const others = (known: string[]): string[] =>
      ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((method) => !known.includes(method));

    it.each(OPERATIONS)('answers other methods of %s and names the right one', async (path) => {
      for (const method of others(['POST'])) {
        const answer = await api.request<ErrorBody>(path, { method });
        expectError(answer, 405, 'METHOD_NOT_SUPPORTED');
        expect(answer.headers.get('allow')).toBe('POST, OPTIONS');
      }
    });

    it.each(HEALTH)('answers other methods of %s and names the right ones', async (path) => {
      for (const method of others(['GET'])) {
        const answer = await api.request<ErrorBody>(path, { method });
        expectError(answer, 405, 'METHOD_NOT_SUPPORTED');
        expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
      }
    });

    it('answers HEAD with the headers alone', async () => {
      const { status, headers, body } = await api.request(`${ITEMS}/getAll`, { method: 'HEAD' });
      expect([status, headers.get('allow'), body]).toEqual([405, 'POST, OPTIONS', undefined]);
      expect((await api.request('/health/live', { method: 'HEAD' })).status).toBe(200);
    });

    it.each([...OPERATIONS, ...HEALTH])('answers OPTIONS of %s with 204 and Allow', async (path) => {
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
    ])('answers the content type %s', async (type) => {
      expectError(await post('{}', { 'Content-Type': type }), 415, 'UNSUPPORTED_MEDIA_TYPE');
    });

    it('answers a form with a file, as an oRPC client sends it', async () => {
      const form = new FormData();
      form.set('data', '{"json":{},"meta":[],"maps":[]}');
      form.set('0', new Blob(['x']), 'x.txt');
      expectError(await post(form, {}), 415, 'UNSUPPORTED_MEDIA_TYPE');
    });

    it('answers a body without a content type', async () => {
      expectError(await post(Buffer.from('{}'), {}), 415, 'UNSUPPORTED_MEDIA_TYPE');
    });

    it.each(['gzip', 'br', 'deflate', 'identity, gzip', 'x-unknown'])(
      'answers the content encoding %s',
      async (coding) => {
        const answer = await post('{}', { ...JSON_TYPE, 'Content-Encoding': coding });
        expectError(answer, 415, 'UNSUPPORTED_MEDIA_TYPE');
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
    ])('takes %s', async (type) => {
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
    ])('is %s', async (_, status, method, path, type, body) => {
      const answer = await api.request<ErrorBody>(path, { method, body, headers: { 'Content-Type': type } });
      expect(answer.body.status).toBe(status);
      expect(answer.status).toBe(status);
    });
  });

  describe('X-Request-Id', () => {
    const MADE = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    const idFor = async (given: string, body = '{}'): Promise<string | null> =>
      (await post(body, { ...JSON_TYPE, 'X-Request-Id': given })).headers.get('x-request-id');

    it.each(['a', '7e8f-1', 'A.b:c+d/e=f@g_h', 'x'.repeat(128)])('is the sane one of the caller: %s', async (given) => {
      expect(await idFor(given)).toBe(given);
      expect(await idFor(given, '{')).toBe(given);
    });

    it.each(['', 'x'.repeat(129), 'a b', 'a,b', '<script>', '"x"', 'ü', '${jndi}', 'a\tb'])(
      'is made where that of the caller is not sane: %j',
      async (given) => {
        expect(await idFor(given)).toMatch(MADE);
        expect(await idFor(given, '{')).toMatch(MADE);
      },
    );

    it('is made, and another each time, where there is none', async () => {
      const ids = await Promise.all(
        ['{}', '{', '{}'].map(async (body) => (await post(body)).headers.get('x-request-id')),
      );
      expect(new Set(ids).size).toBe(3);
      expect(ids.filter((id) => !MADE.test(id ?? ''))).toEqual([]);
    });
  });

  it('ignores query strings', async () => {
    const query = '?page=0&__proto__[x]=1&a[b]=%ff&%00=%&?';
    const { status, body } = await api.post<Item[]>(`${ITEMS}/getAll${query}`, '{}', JSON_TYPE);
    expect([status, body]).toEqual([200, []]);
  });

  it('names no software in any header', async () => {
    for (const answer of [await post('{}'), await post('{'), await api.request<ErrorBody>('/x', {})]) {
      expect(answer.headers.get('x-powered-by')).toBeNull();
      expect(answer.headers.get('server')).toBeNull();
      expect(answer.headers.get('etag')).toBeNull();
    }
  });
});

function issuesOf({ body }: Answer<ErrorBody>): InputIssue[] {
  return (body.data as { issues: InputIssue[] }).issues;
}
