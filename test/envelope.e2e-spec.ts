import type { ErrorBody, InputIssue, Item } from '@app/contracts';
import { untilServed, type HttpResponse } from './support/api-client.js';
import { cpuMs } from './support/cpu-time.js';
import { expectError } from './support/errors.js';
import { uniqueWord, validInput } from './support/items.js';
import { startService, type Service } from './support/service.js';

type Enveloped<Body> = HttpResponse<{ json: Body }>;

/** Takes an error out of its envelope. Expects the envelope to hold nothing else. */
function unwrapped({ status, headers, body }: Enveloped<ErrorBody>): HttpResponse<ErrorBody> {
  expect(Object.keys(body)).toEqual(['json']);
  return { status, headers, body: body.json };
}

const pathsOf = ({ body }: HttpResponse<ErrorBody>): InputIssue['path'][] =>
  (body.data as { issues: InputIssue[] }).issues.map(({ path }) => path);

describe('an envelope', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const call = <Body>(operation: string, json: unknown, meta?: unknown): Promise<Enveloped<Body>> =>
    service.api.call(operation, { json, ...(meta === undefined ? {} : { meta }) });
  const refused = async (operation: string, json: unknown, meta?: unknown): Promise<HttpResponse<ErrorBody>> => {
    const response = unwrapped(await call<ErrorBody>(operation, json, meta));
    expectError(response, 400, 'BAD_REQUEST');
    return response;
  };

  describe('in a response', () => {
    it('an envelope in a response wraps the result of each operation', async () => {
      const name = uniqueWord();
      const { status, body } = await call<Item>('create', validInput({ name }));
      expect([status, Object.keys(body), body.json.name]).toEqual([200, ['json'], name]);
      const byId = await call<Item>('getById', { id: body.json.id });
      expect([byId.status, byId.body]).toEqual([200, body]);
      const list = await call<Item[]>('getAll', { search: name });
      expect([list.status, Object.keys(list.body)]).toEqual([200, ['json']]);
      expect(list.headers.get('content-type')).toBe('application/json; charset=utf-8');
    });

    it('an envelope in a response wraps the result for an empty input', async () => {
      const { status, body } = await call<Item[]>('getAll', {});
      expect([status, Array.isArray(body.json)]).toEqual([200, true]);
    });

    it('an envelope in a response wraps an error', async () => {
      expectError(unwrapped(await call<ErrorBody>('getById', { id: 'x' })), 404, 'NOT_FOUND');
      expect(pathsOf(await refused('create', validInput({ name: 'ab', stock: 0 })))).toEqual([['name'], ['stock']]);
      expect(pathsOf(await refused('create', validInput({ categoryId: 'no such slug' })))).toEqual([['categoryId']]);
    });

    it.each([null, [], 'x', 1, true])(
      'an envelope in a response wraps the error for an input that is not an object: %j',
      async (json) => {
        for (const operation of ['getAll', 'getById', 'create']) {
          expect(pathsOf(await refused(operation, json))).toEqual([[]]);
        }
      },
    );

    it('an envelope in a response wraps the result for a request with an empty meta', async () => {
      expect((await call<Item[]>('getAll', {}, [])).status).toBe(200);
    });
  });

  describe('that is not well-formed', () => {
    it.each([
      ['with another key', { json: { page: 0 }, categoryId: '5' }],
      ['with a key of an object', { json: { page: 0 }, constructor: 1 }],
      ['with a meta that is no array', { json: { page: 0 }, meta: {} }],
      ['with a meta of null', { json: { page: 0 }, meta: null }],
      ['with meta alone', { meta: [[1, 'page']] }],
      ['in another case', { JSON: { page: 0 } }],
      ['that is empty', {}],
    ])('an envelope that is not well-formed is treated as plain input: %s', async (_, body) => {
      const response = await service.api.call<Item[]>('getAll', body);
      expect([response.status, Array.isArray(response.body)]).toEqual([200, true]);
    });

    it('an envelope with __proto__ is treated as plain input', async () => {
      for (const body of ['{"json":{"page":0},"__proto__":{}}', '{"__proto__":{"json":{"page":0}}}']) {
        const headers = { 'Content-Type': 'application/json' };
        const { status } = await untilServed(() => service.api.post('/api/orpc/items/getAll', body, headers));
        expect(status).toBe(200);
      }
    });

    it('an envelope in an array is refused as plain input', async () => {
      expectError(await service.api.call<ErrorBody>('getAll', [{ json: {} }]), 400, 'BAD_REQUEST');
    });
  });

  describe('that marks a native type', () => {
    it.each([
      ['name', [1, 'name']],
      ['description', [4, 'description']],
      ['price', [2, 'price']],
      ['price', ['nan', 'price']],
      ['stock', [3, 'stock']],
      ['brandId', [0, 'brandId']],
      ['conditionId', [2, 'conditionId']],
      ['isFeatured', [3, 'isFeatured']],
      ['categoryId', [0, 'categoryId']],
      ['images', [6, 'images']],
      ['images', [1, 'images', 0]],
      ['photos', [7, 'photos']],
      ['photos', [1, 'photos', 0, 'takenAt']],
      ['photos', [5, 'photos', 99, '__proto__', 'x']],
      ['name', [99, 'name']],
      ['name', ['unheard of', 'name', 'deeper']],
      ['name', [null, 'name']],
    ])(
      'an envelope that marks a native type is refused at the known field %s, with its path: %j',
      async (field, entry) => {
        const response = await refused('create', validInput({ photos: [{ takenAt: '2026-01-01' }] }), [entry]);
        expect(pathsOf(response)).toEqual([[field]]);
      },
    );

    it.each(['page', 'pageSize', 'search', 'categoryId', 'status', 'userId', 'after'])(
      'an envelope that marks a native type is refused at the absent field %s, with its path',
      async (field) => {
        expect(pathsOf(await refused('getAll', {}, [[3, field]]))).toEqual([[field]]);
      },
    );

    it('an envelope that marks a native type is refused at a field of getById, with its path', async () => {
      expect(pathsOf(await refused('getById', { id: 'f'.repeat(24) }, [[0, 'id']]))).toEqual([['id']]);
    });

    it('an envelope that marks a native type is refused at several fields, with all their paths', async () => {
      const meta = [
        [0, 'stock'],
        [1, 'name'],
        [1, 'x'],
      ];
      expect(pathsOf(await refused('create', validInput(), meta)).sort()).toEqual([['name'], ['stock']]);
    });

    it.each([
      [[1, 'takenAt']],
      [[1, 'unknown', 'deeper', 0]],
      [[0, 0]],
      [[1, '__proto__']],
      [[1, '__proto__', 'name']],
      [[1, 'constructor', 'prototype', 'name']],
      [[1, 'toString']],
      [[1, null]],
      [[1, { name: 1 }]],
      [[1, ['name']]],
      [[1, '']],
    ])('an envelope that marks a native type is accepted at an unknown field: %j', async (entry) => {
      const { status, body } = await call<Item>('create', validInput({ unknown: '2026-01-01' }), [entry]);
      expect([status, body.json.name]).toEqual([200, validInput()['name']]);
      expect(({} as Record<string, unknown>)['name']).toBeUndefined();
    });

    it.each([[[1]], [[]], [1], [null], ['name'], [{ 1: 'name' }]])(
      'an envelope that marks a native type is refused with an empty path if it names no field: %j',
      async (entry) => {
        for (const operation of ['getAll', 'getById', 'create']) {
          expect(pathsOf(await refused(operation, validInput({ id: 'x' }), [entry]))).toEqual([[]]);
        }
      },
    );

    it('an envelope that marks a native type is refused with an empty path for an input that is not an object', async () => {
      expect(
        pathsOf(
          await refused(
            'getAll',
            [{}],
            [
              [1, 0, 'x'],
              [1, 'x'],
            ],
          ),
        ),
      ).toEqual([[]]);
    });

    it('an envelope that marks a native type is handled quickly even if it does so 14,000 times', async () => {
      const json = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${String(index)}`, 0]));
      const meta = Array.from({ length: 14_000 }, () => [0, 'x']);
      const spentMs = await cpuMs(async () => {
        expect((await call<Item[]>('getAll', json, meta)).status).toBe(200);
      });
      expect(spentMs).toBeLessThan(2000);
    });
  });

  describe('that cannot be read', () => {
    it.each([
      [400, 'BAD_REQUEST', '{"json":{}', 'application/json'],
      [413, 'PAYLOAD_TOO_LARGE', `{"json":{"search":"${'x'.repeat(1_048_576)}"}}`, 'application/json'],
      [415, 'UNSUPPORTED_MEDIA_TYPE', '{"json":{}}', 'text/plain'],
    ])('an envelope that cannot be read gets a plain error: %i', async (status, code, body, type) => {
      const response = await service.api.post<ErrorBody>('/api/orpc/items/getAll', body, { 'Content-Type': type });
      expectError(response, status, code);
    });
  });
});

describe('an empty body without a content type', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const send = (operation: string): Promise<HttpResponse<ErrorBody>> =>
    untilServed(() => service.api.post(`/api/orpc/items/${operation}`, null));

  it('an empty body without a content type is an empty input of getAll and gets a plain response', async () => {
    const { status, body } = await send('getAll');
    expect([status, body]).toEqual([200, []]);
  });

  it('an empty body without a content type is refused by the other operations for its missing fields', async () => {
    const byId = await send('getById');
    expectError(byId, 400, 'BAD_REQUEST');
    expect(pathsOf(byId)).toEqual([['id']]);
    const created = await send('create');
    expectError(created, 400, 'BAD_REQUEST');
    expect(pathsOf(created).sort()).toEqual(
      Object.keys(validInput())
        .sort()
        .map((field) => [field]),
    );
  });
});
