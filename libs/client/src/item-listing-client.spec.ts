import { getEventListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ApiError } from './api-error.js';
import { ItemListingClient } from './item-listing-client.js';
import type { GetAllInput } from './schema.js';
import type { ClientOptions } from './transport.js';

type FetchResult = Response | Error;

const NEW_ITEM = {
  name: 'Red city bike',
  description: 'Three gears, new tyres.',
  price: 149.5,
  categoryId: '7',
  stock: 1,
  brandId: null,
  conditionId: null,
  isFeatured: null,
  images: ['https://images.example.com/bike.jpg'],
};

const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers });
const busy = (status: number): Response =>
  json({ code: 'BUSY', status, message: 'Try again' }, status, { 'Retry-After': '0' });

describe('ItemListingClient', () => {
  let requests: { url: string; headers: Headers; body: unknown }[];
  beforeEach(() => {
    requests = [];
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** Returns the items of a client whose requests get these responses, one after another. */
  const itemsOf = (results: FetchResult[], options: Partial<ClientOptions> = {}): ItemListingClient['items'] => {
    const fetch = (url: unknown, { headers, body, signal }: RequestInit = {}): Promise<Response> => {
      requests.push({ url: String(url), headers: new Headers(headers), body: JSON.parse(body as string) });
      signal?.throwIfAborted();
      const result = results.shift() ?? new Error('no more responses');
      return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
    };
    const baseUrl = 'https://api.example.com/';
    return new ItemListingClient({ baseUrl, fetch, headers: { Authorization: 'Bearer x' }, ...options }).items;
  };
  const keys = (): (string | null)[] => requests.map(({ headers }) => headers.get('Idempotency-Key'));

  it('the typed client posts JSON with its headers', async () => {
    expect(await itemsOf([json({ id: 'a' })]).getById('a')).toEqual({ id: 'a' });
    const [{ url, headers, body }] = requests as [(typeof requests)[number]];
    expect([url, body]).toEqual(['https://api.example.com/api/orpc/items/getById', { id: 'a' }]);
    expect(headers.get('Content-Type')).toBe('application/json');
    expect(headers.get('Authorization')).toBe('Bearer x');
  });

  it('the typed client sends one Content-Type if its headers contain another in lower case', async () => {
    await itemsOf([json([])], { headers: { 'content-type': 'text/plain' } }).getAll();
    expect(requests[0]?.headers.get('Content-Type')).toBe('application/json');
  });

  it.each([
    ['https://api.example.com//', 'https://api.example.com/api/orpc/items/getAll'],
    ['https://example.com/shop/?key=x', 'https://example.com/shop/api/orpc/items/getAll?key=x'],
  ])('the typed client adds the path of the operation to the base URL %s', async (baseUrl, url) => {
    await itemsOf([json([])], { baseUrl }).getAll();
    expect(requests[0]?.url).toBe(url);
  });

  it.each([
    ['a base URL with a password', { baseUrl: 'https://user:password@api.example.com' }],
    ['a header that cannot be sent', { headers: { Authorization: 'Bearer x\ny' } }],
  ])('the typed client throws a TypeError without a request for %s', async (_, options) => {
    await expect(itemsOf([json([])], options).getAll()).rejects.toMatchObject({ name: 'TypeError' });
    expect(requests).toEqual([]);
  });

  it.each([3e9, Infinity])('the typed client does not time out at once with a timeoutMs of %d', async (timeoutMs) => {
    const paused = json({}, 503, { 'Retry-After': '0' });
    expect(await itemsOf([paused, json([])], { timeoutMs }).getAll()).toMatchObject({ items: [] });
  });

  it('the typed client repeats a create under one key after a 429, a 503, a 504 and a failed connection', async () => {
    const item = await itemsOf([
      busy(429),
      busy(503),
      busy(504),
      new TypeError('fetch failed'),
      json({ id: 'a' }),
    ]).create(NEW_ITEM);
    expect(item).toEqual({ id: 'a' });
    expect(new Set(keys()).size).toBe(1);
    expect(keys()).toHaveLength(5);
    expect(keys()[0]).toMatch(/^[0-9a-f]{32}$/);
  });

  it('the typed client repeats a create under the same key after a 502 of a proxy', async () => {
    const html = new Response('<h1>Bad Gateway</h1>', { status: 502 });
    expect(await itemsOf([html, json({ id: 'a' })]).create(NEW_ITEM)).toEqual({ id: 'a' });
    expect(keys()).toEqual([keys()[0], keys()[0]]);
  });

  it('the typed client uses another key for each create, or the one that it is given', async () => {
    const items = itemsOf([json({}), json({}), json({})]);
    await items.create(NEW_ITEM);
    await items.create(NEW_ITEM);
    await items.create(NEW_ITEM, { idempotencyKey: 'order-1' });
    expect(new Set(keys()).size).toBe(3);
    expect(keys()[2]).toBe('order-1');
  });

  it('the typed client throws other errors at once, with their code and issues', async () => {
    const issues = [{ path: ['name'], message: 'Too short' }];
    const refused = json(
      { defined: false, code: 'BAD_REQUEST', status: 400, message: 'Invalid', data: { issues } },
      400,
    );
    const error: unknown = await itemsOf([refused])
      .create(NEW_ITEM)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 400, code: 'BAD_REQUEST', message: 'Invalid', data: { issues } });
    expect(requests).toHaveLength(1);
  });

  it('the typed client understands the errors of a proxy', async () => {
    const html = new Response('<h1>Forbidden</h1>', { status: 403, statusText: 'Forbidden' });
    await expect(itemsOf([html]).getById('a')).rejects.toMatchObject({
      status: 403,
      code: 'UNKNOWN',
      message: '403 Forbidden',
    });
    expect(requests).toHaveLength(1);
  });

  it('the typed client gives an error without data an empty object', async () => {
    const refused = json({ code: 'BAD_REQUEST', message: 'Invalid', data: null }, 400);
    const error: unknown = await itemsOf([refused])
      .getAll()
      .catch((thrown: unknown) => thrown);
    expect((error as ApiError).data).toEqual({});
  });

  it.each([429, 503])(
    'the typed client throws the error of the last try (%i) when there is no time for another',
    async (status) => {
      const later = json({ code: 'LATER', message: 'Try again' }, status, { 'Retry-After': '30' });
      await expect(itemsOf([later], { timeoutMs: 20_000 }).getAll()).rejects.toMatchObject({ status });
      expect(requests).toHaveLength(1);
    },
  );

  it('the typed client waits until the time of a Retry-After that is a date', async () => {
    const date = new Date(Date.now() + 30_000).toUTCString();
    const later = json({ code: 'LATER', message: 'Try again' }, 503, { 'Retry-After': date });
    await expect(itemsOf([later], { timeoutMs: 5000 }).getAll()).rejects.toMatchObject({ status: 503 });
    expect(requests).toHaveLength(1);
  });

  it.each(['0', new Date(0).toUTCString(), 'soon'])(
    'the typed client pauses before each try if Retry-After is %s',
    async (retryAfter) => {
      const tries = 3;
      const later = Array.from({ length: tries }, () => json({}, 503, { 'Retry-After': retryAfter }));
      // The time is over after the last of them.
      jest.spyOn(performance, 'now').mockImplementation(() => (requests.length < tries ? 0 : Infinity));
      const since = Date.now();
      await expect(itemsOf(later).getAll()).rejects.toMatchObject({ status: 503 });
      expect(Date.now() - since).toBeGreaterThan(300);
    },
  );

  it('the typed client does not let a last 503 hide that an earlier try may have created the item', async () => {
    const later = json({ code: 'SERVICE_UNAVAILABLE', message: 'Try again' }, 503, { 'Retry-After': '30' });
    await expect(itemsOf([busy(504), later], { timeoutMs: 20_000 }).create(NEW_ITEM)).rejects.toMatchObject({
      status: 504,
      cause: { status: 503 },
    });
    expect(requests).toHaveLength(2);
  });

  it('the typed client does not let a last 503 of the service hide that a proxy may have forwarded an earlier try', async () => {
    const reset = new Response('upstream connect error or disconnect/reset before headers', { status: 503 });
    const later = json({ code: 'SERVICE_UNAVAILABLE', message: 'Try again' }, 503, { 'Retry-After': '30' });
    await expect(itemsOf([reset, later], { timeoutMs: 20_000 }).create(NEW_ITEM)).rejects.toMatchObject({
      status: 503,
      code: 'UNKNOWN',
    });
    expect(requests).toHaveLength(2);
  });

  it.each([
    ['a failed connection', new TypeError('fetch failed'), { name: 'TypeError', message: 'fetch failed' }],
    ['a 502 of a proxy', new Response('<h1>Bad Gateway</h1>', { status: 502 }), { status: 502 }],
    ['a 504', busy(504), { status: 504 }],
  ])(
    'the typed client does not let a last 401 hide that a create may have succeeded before %s',
    async (_, first, thrown) => {
      const refused = json({ code: 'UNAUTHORIZED', message: 'Expired' }, 401);
      await expect(itemsOf([first, refused]).create(NEW_ITEM)).rejects.toMatchObject({
        ...thrown,
        cause: { name: 'ApiError', status: 401 },
      });
      expect(requests).toHaveLength(2);
    },
  );

  it('the typed client does not let a last response without JSON hide that an earlier try may have created the item', async () => {
    await expect(itemsOf([busy(504), new Response('<html>')]).create(NEW_ITEM)).rejects.toMatchObject({
      status: 504,
      cause: { name: 'SyntaxError' },
    });
  });

  it('the typed client throws the last error of a create whose earlier tries were refused', async () => {
    const error: unknown = await itemsOf([busy(429), json({ code: 'UNAUTHORIZED', message: 'Expired' }, 401)])
      .create(NEW_ITEM)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 401 });
    expect((error as ApiError).cause).toBeUndefined();
  });

  it('the typed client keeps the cause of a failed connection if the last try failed so', async () => {
    const reset = new TypeError('fetch failed', { cause: new Error('ECONNRESET') });
    await expect(itemsOf([reset], { timeoutMs: 100 }).create(NEW_ITEM)).rejects.toMatchObject({
      message: 'fetch failed',
      cause: { message: 'ECONNRESET' },
    });
  });

  it('the typed client throws the last error of a read, whatever happened to earlier tries', async () => {
    const missing = json({ code: 'NOT_FOUND', message: 'No such item' }, 404);
    await expect(itemsOf([new TypeError('fetch failed'), missing]).getById('a')).rejects.toMatchObject({ status: 404 });
    const later = json({ code: 'SERVICE_UNAVAILABLE', message: 'Try again' }, 503, { 'Retry-After': '30' });
    await expect(itemsOf([busy(502), later], { timeoutMs: 20_000 }).getAll()).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
  });

  it('the typed client repeats a call whose connection fails in the middle of the response', async () => {
    const broken = new ReadableStream({
      start: (stream) => {
        stream.error(new TypeError('terminated'));
      },
    });
    expect(await itemsOf([new Response(broken), json({ id: 'a' })]).getById('a')).toEqual({ id: 'a' });
  });

  it('the typed client does not repeat a call whose response is not JSON', async () => {
    await expect(itemsOf([new Response('<html>'), json({})]).getById('a')).rejects.toMatchObject({
      name: 'SyntaxError',
    });
    expect(requests).toHaveLength(1);
  });

  it.each(['localhost', 'localhost:3000', ''])('the typed client rejects the base URL %j', (baseUrl) => {
    expect(() => new ItemListingClient({ baseUrl })).toThrow(/URL/);
  });

  it.each([0, -1, NaN])('the typed client rejects a timeoutMs of %d', (timeoutMs) => {
    expect(() => new ItemListingClient({ baseUrl: 'http://localhost:3000', timeoutMs })).toThrow(/timeoutMs/);
  });

  it('the typed client uses a new key for a create to which plain JavaScript passes null', async () => {
    const items = itemsOf([json({}), json({})]);
    for (let count = 0; count < 2; count += 1)
      await items.create(NEW_ITEM, { idempotencyKey: null as unknown as string });
    expect(new Set(keys()).size).toBe(2);
    expect(keys()).not.toContain('null');
  });

  it('the typed client keeps no reference in the signal of the caller to calls that have ended', async () => {
    const { signal } = new AbortController();
    const items = itemsOf([json([]), new Error('x')]);
    await items.getAll({}, { signal });
    await expect(items.getAll({}, { signal })).rejects.toThrow('x');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('the typed client times out after thousands of calls with a signal, even if garbage is collected', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    let respond = true;
    const fetch = (_url: unknown, { signal }: RequestInit = {}): Promise<Response> =>
      respond
        ? Promise.resolve(json({}))
        : new Promise((_resolve, reject) => {
            signal?.addEventListener('abort', () => {
              reject(signal.reason as Error);
            });
          });
    const { items } = new ItemListingClient({ baseUrl: 'http://localhost:3000', timeoutMs: 500, fetch });
    for (let calls = 0; calls < 3000; calls += 1) await items.getById('a', { signal: new AbortController().signal });
    respond = false;
    const collecting = setInterval(collectGarbage, 50);
    const getting = items.getById('a', { signal: new AbortController().signal });
    const late = delay(5000, 'not timed out', { ref: false });
    const result = await Promise.race([getting.catch((error: unknown) => error), late]);
    clearInterval(collecting);
    expect(result).toMatchObject({ name: 'TimeoutError' });
  });

  it('the typed client stops when the signal of the caller says so, even between two tries', async () => {
    const later = json({}, 503, { 'Retry-After': '10' });
    const stop = new AbortController();
    const listing = itemsOf([later]).getAll({}, { signal: stop.signal });
    setTimeout(() => {
      stop.abort(new Error('no longer needed'));
    }, 10);
    await expect(listing).rejects.toThrow('no longer needed');
    expect(requests).toHaveLength(1);
  });

  it('the typed client walks through a list by Next-After, and requests a page only when it is needed', async () => {
    const items = itemsOf([json([{ id: 'a' }, { id: 'b' }], 200, { 'Next-After': 'B' }), json([{ id: 'c' }])]);
    const walk = items.walk({ status: 'available', pageSize: 2 });
    const ids = [(await walk.next()).value?.id, (await walk.next()).value?.id];
    expect(requests).toHaveLength(1);
    for await (const { id } of walk) ids.push(id);
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(requests.map(({ body }) => body)).toEqual([
      { status: 'available', pageSize: 2 },
      { status: 'available', pageSize: 2, after: 'B' },
    ]);
  });

  it('the typed client walks on from a page that plain JavaScript passes', async () => {
    const items = itemsOf([json([{ id: 'a' }], 200, { 'Next-After': 'A' }), json([{ id: 'b' }])]);
    const input: GetAllInput = { page: 3 };
    const ids = [];
    for await (const { id } of items.walk(input)) ids.push(id);
    expect(ids).toEqual(['a', 'b']);
    expect(requests.map(({ body }) => body)).toEqual([{ page: 3 }, { after: 'A' }]);
  });
});
