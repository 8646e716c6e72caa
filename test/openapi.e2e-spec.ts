import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorBody, Item } from '@app/contracts';
import { ApiKeyRepository } from '@app/database';
import { demoCatalogue } from '../apps/cli/src/demo/demo-catalogue.js';
import { expectError } from './support/errors.js';
import { eventually } from './support/eventually.js';
import { startApi, startService, type Service } from './support/service.js';
import { bearer } from './support/token-issuer.js';

interface Document {
  paths: Record<string, { post: Operation }>;
  components: { responses: Record<string, { headers: object }> };
}
interface Operation {
  requestBody: { content: { 'application/json': { examples: Record<string, { value: unknown }> } } };
}

const DOCUMENT = JSON.parse(readFileSync(join(__dirname, '..', 'openapi.json'), 'utf8')) as Document;
const GETS = [
  ['/openapi.json', 'application/json; charset=utf-8'],
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/page.js', 'text/javascript; charset=utf-8'],
  ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['/docs/swagger-ui.css', 'text/css; charset=utf-8'],
  ['/docs/favicon-32x32.png', 'image/png'],
] as const;

describe('the OpenAPI document', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
    // As after `npm start`: the page at /docs sends the examples to the service.
    await service.database.models.categories.insertMany(demoCatalogue(new Date()).categories);
  });
  afterAll(() => service.stop());

  it('the OpenAPI document is served as it is committed', async () => {
    const { status, body } = await service.api.request('/openapi.json', {});
    expect(status).toBe(200);
    expect(body).toEqual(DOCUMENT);
  });

  it('the OpenAPI document has examples that work unchanged', async () => {
    const outcomes = Object.entries(DOCUMENT.paths).flatMap(([path, { post }]) =>
      Object.entries(post.requestBody.content['application/json'].examples).map(async ([name, { value }]) => {
        const headers = { 'Content-Type': 'application/json' };
        const status = await eventually(async () => {
          const response = await service.api.post<Item>(path, JSON.stringify(value), headers);
          expect(response.status).not.toBe(503);
          return response.status;
        });
        return `${path.split('/').at(-1) ?? ''} ${name} ${String(status)}`;
      }),
    );
    expect(await Promise.all(outcomes)).toEqual([
      'getAll first 200',
      'getAll search 200',
      'getAll category 200',
      'getById item 404',
      'create item 200',
      'create withPhotos 200',
    ]);
  });

  it('the OpenAPI document has the headers of errors of an API with authentication and rate limits', async () => {
    const limits = { RATE_LIMIT_GETALL: '9/600', RATE_LIMIT_GETBYID: '9/600' };
    const { api, stop } = await startApi({ ...service.env, ...limits, AUTH_API_KEYS: 'on' });
    const wanted = { owner: 'reader', scopes: ['other'], expiresAt: new Date(Date.now() + 60_000) };
    const { key } = await new ApiKeyRepository(service.database).create(wanted);
    const errors = [
      await api.call<ErrorBody>('getAll', { pageSize: 0 }),
      await api.call<ErrorBody>('getAll', { userId: 'user-1' }),
      await api.call<ErrorBody>('getAll', { userId: 'user-1' }, bearer(key)),
      await api.call<ErrorBody>('getAll', {}, { 'Content-Type': 'text/plain' }),
      await api.call<ErrorBody>('getById', { id: 'unknown' }),
      await api.call<ErrorBody>('create', {}),
      await api.call<ErrorBody>('create', {}, bearer(key)),
    ];
    await stop();
    expect(errors.map(({ status }) => status)).toEqual([400, 401, 403, 415, 404, 401, 403]);
    const undocumented = errors.flatMap(({ body: { code }, headers }) => {
      const documented = Object.keys(DOCUMENT.components.responses[code]?.headers ?? {}).map((name) =>
        name.toLowerCase(),
      );
      return ['ratelimit', 'ratelimit-policy', 'www-authenticate', 'retry-after']
        .filter((name) => headers.has(name) && !documented.includes(name))
        .map((name) => `${code} ${name}`);
    });
    expect(undocumented).toEqual([]);
  });

  describe.each(GETS)('%s', (path, type) => {
    it('a file of the docs is served with its content type', async () => {
      const response = await fetch(`${service.api.base}${path}`);
      const { byteLength } = await response.arrayBuffer();
      expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(byteLength).toBeGreaterThan(100);
    });

    it('a file of the docs is served to GET and HEAD only', async () => {
      expect((await fetch(`${service.api.base}${path}`, { method: 'HEAD' })).status).toBe(200);
      const refused = await service.api.request<ErrorBody>(path, { method: 'POST', body: '{}' });
      expectError(refused, 405, 'METHOD_NOT_SUPPORTED');
      expect(refused.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    });
  });

  it.each(['/docs/', '/docs/package.json', '/docs/..%2fpackage.json', '/docs/swagger-ui.js', '/openapi'])(
    'files other than those of the docs are not served: %s',
    async (path) => {
      expectError(await service.api.request<ErrorBody>(path, {}), 404, 'NOT_FOUND');
    },
  );
});
