import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ErrorBody, Item, QueuedItem } from '@app/contracts';
import { newMongoId } from '@app/database';
import type { ApiClient, HttpResponse } from './support/api-client.js';
import { eventually } from './support/eventually.js';
import { validInput } from './support/items.js';
import { endProcesses, ServiceProcess } from './support/processes.js';
import { RawConnection } from './support/raw-connection.js';
import { startApi, startService, startWorker, type RunningApi, type Service } from './support/service.js';
import {
  AUDIENCE,
  bearer,
  claims,
  ISSUER,
  KeyServer,
  newShortKey,
  newSigningKey,
  signToken,
  signWithSecret,
} from './support/token-issuer.js';

const SUSPENDED = join(__dirname, 'support', 'suspended.cjs');
const SECRET = 'a secret of at least 256 bits for these tests';
const past = (seconds: number): number => Math.floor(Date.now() / 1000) - seconds;

describe('JSON Web Tokens', () => {
  const key = newSigningKey('first', 'RS256');
  const otherKeys = [newSigningKey('of ES256', 'ES256'), newSigningKey('of EdDSA', 'EdDSA')];
  const published = new KeyServer([key, ...otherKeys]);
  let service: Service;
  let api: ApiClient;
  const others: RunningApi[] = [];

  beforeAll(async () => {
    const jwksUrl = await published.listen();
    const settings = { AUTH_JWKS_URL: jwksUrl, AUTH_ISSUER: ISSUER, AUTH_AUDIENCE: AUDIENCE };
    service = await startService({ env: { ...settings, TRUST_PROXY: 'loopback' } });
    ({ api } = service);
    await waitForKeys(service);
  });
  afterEach(() => {
    published.behaviour = undefined;
    published.keys = [key, ...otherKeys];
  });
  afterAll(async () => {
    await endProcesses();
    await Promise.all(others.map(({ stop }) => stop()));
    await service.stop();
    await published.close();
  });

  const readiness = ({ api }: RunningApi): Promise<HttpResponse<{ status: string }>> =>
    api.request('/health/ready', {});
  const waitForKeys = (api: RunningApi): Promise<void> =>
    eventually(async () => {
      expect((await readiness(api)).body.status).toBe('ready');
    });
  /** Starts another API. Unless the keys are published badly, it knows them. */
  async function startOther(more: NodeJS.ProcessEnv = {}): Promise<RunningApi> {
    const other = await startApi({ ...service.env, ...more });
    others.push(other);
    if (published.behaviour === undefined) await waitForKeys(other);
    return other;
  }

  const create = (api: ApiClient, token: string, headers: Record<string, string> = {}): Promise<HttpResponse<Item>> =>
    api.call<Item>('create', validInput(), { ...bearer(token), ...headers });
  /** Returns the response to a read. Reads need no scope, and no worker. */
  const read = (api: ApiClient, token: string): Promise<HttpResponse<ErrorBody>> =>
    api.call<ErrorBody>('getAll', {}, bearer(token));
  /** Like `read`, but does not repeat a read that gets a 503. */
  const readOnce = (api: ApiClient, token: string): Promise<HttpResponse<ErrorBody>> =>
    api.callOnce<ErrorBody>('getAll', {}, bearer(token));

  it.each(['on', 'off'])('tokens make the caller the seller of the items: fast lane %s', async (FAST_LANE) => {
    const { api: other } = await startOther({ FAST_LANE });
    const { status, body } = await create(other, signToken(key));
    expect({ status, body }).toMatchObject({ status: 200, body: { sellerId: 'jwt:alice' } });
    expect((await other.call('getById', { id: body.id })).body).toEqual(body);
  });

  it.each(['on', 'off'])('tokens are checked before the body is read: fast lane %s', async (FAST_LANE) => {
    const { api: other } = await startOther({ FAST_LANE });
    const head =
      'POST /api/orpc/items/create HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 9999999\r\n';
    for (const [more, status, challenge] of [
      ['', 401, 'Bearer realm="item-listing"'],
      ['Authorization: Basic YTpi\r\n', 401, 'Bearer realm="item-listing", error="invalid_token"'],
      ['Authorization: Bearer\r\n', 401, 'Bearer realm="item-listing", error="invalid_token"'],
      [
        `Authorization: Bearer ${signToken(key, claims({ scope: 'other' }))}\r\n`,
        403,
        'error="insufficient_scope", scope="items:create"',
      ],
      [`Authorization: Bearer ${signToken(key)}\r\n`, 415, 'none'],
      [`Authorization: Bearer ${signToken(key)}\r\nauthorization: Bearer x\r\n`, 400, 'none'],
    ] as const) {
      const connection = await RawConnection.open(other.base);
      const response = await connection.send(`${head}${more}\r\n`).nextResponse<ErrorBody>();
      expect(response.status).toBe(status);
      expect(response.headers.get('www-authenticate') ?? 'none').toContain(challenge);
      connection.destroy();
    }
  });

  it('tokens are ignored on paths other than those of operations, and unknown paths get a 404 without one', async () => {
    expect((await api.request('/health/live', { headers: bearer('x') })).status).toBe(200);
    expect((await api.post('/api/orpc/items/delete', '{}')).status).toBe(404);
    expect((await api.request('/api/orpc/items/create', {})).status).toBe(405);
  });

  it('tokens are not needed for reads by default, but must be valid if sent', async () => {
    expect((await api.call('getAll', {})).status).toBe(200);
    expect((await api.call('getById', { id: newMongoId() })).status).toBe(404);
    expect((await read(api, 'x.y.z')).status).toBe(401);
  });

  it('tokens are needed for reads if AUTH_READS is required', async () => {
    const { api: other } = await startOther({ AUTH_READS: 'required' });
    for (const operation of ['getAll', 'getById']) {
      expect((await other.call(operation, {})).status).toBe(401);
      expect(
        (await other.call(operation, { id: newMongoId() }, bearer(signToken(key, claims({ scope: undefined })))))
          .status,
      ).not.toBe(401);
    }
  });

  it('tokens limit favourites to those of the caller', async () => {
    const list = async (userId: string, token?: string): Promise<number> =>
      (await api.call('getAll', { userId }, token === undefined ? {} : bearer(token))).status;
    expect(await list('alice')).toBe(401);
    expect(await list('alice', signToken(key))).toBe(200);
    expect(await list('jwt:alice', signToken(key))).toBe(200);
    expect(await list('bob', signToken(key))).toBe(403);
    // A name cannot claim to be another kind of caller.
    expect(await list('key:alice', signToken(key, claims({ sub: 'key:alice' })))).toBe(403);
  });

  it('tokens keep the idempotency keys of callers apart', async () => {
    const sameKey = { 'Idempotency-Key': 'of-both' };
    const [mine, again] = [await create(api, signToken(key), sameKey), await create(api, signToken(key), sameKey)];
    const other = await create(api, signToken(key, claims({ sub: 'bob' })), sameKey);
    expect([mine.status, again.status, other.status]).toEqual([200, 200, 200]);
    expect(again.body).toEqual(mine.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(other.headers.get('idempotency-replayed')).toBeNull();
    expect(other.body.id).not.toBe(mine.body.id);
    expect(other.body.sellerId).toBe('jwt:bob');
  });

  it('the idempotency keys of callers are separate while their creates are queued', async () => {
    const env = { ...service.env, QUEUE_PREFIX: `${String(service.env['QUEUE_PREFIX'])}-queued` };
    const { api: other } = await startOther(env);
    const input = validInput();
    const queue = (sub: string): Promise<HttpResponse<QueuedItem>> =>
      other.call('create', input, {
        ...bearer(signToken(key, claims({ sub }))),
        'Idempotency-Key': 'of-queued',
        Prefer: 'respond-async',
      });
    const [mine, again, theirs] = [await queue('alice'), await queue('alice'), await queue('bob')];
    const id = expect.stringMatching(/^[0-9a-f]{24}$/) as string;
    for (const { status, headers, body } of [mine, again, theirs]) {
      expect({ status, body }).toEqual({ status: 202, body: { id, status: 'queued' } });
      expect(headers.get('idempotency-replayed')).toBeNull();
    }
    expect(again.body.id).toBe(mine.body.id);
    expect(theirs.body.id).not.toBe(mine.body.id);
    const worker = await startWorker(env);
    try {
      for (const [queued, sellerId] of [
        [mine, 'jwt:alice'],
        [theirs, 'jwt:bob'],
      ] as const)
        await eventually(async () => {
          const { body } = await other.call<Item>('getById', { id: queued.body.id });
          expect(body.sellerId).toBe(sellerId);
        });
    } finally {
      await worker.stop();
    }
  });

  // The numbers are sections of https://www.rfc-editor.org/rfc/rfc8725.
  it('tokens are rejected if they violate RFC 8725', async () => {
    const now = past(0);
    const another = newSigningKey('first', 'RS256');
    const short = newShortKey('short');
    published.keys = [key, short];
    const { api: other } = await startOther();
    expect((await read(other, signToken(key))).status).toBe(200);
    const unsigned = signToken(key, claims(), { alg: 'none' }).split('.');
    const asSecret = (publicKey: string | Buffer): string => signWithSecret(publicKey, claims(), { kid: 'first' });
    const publicJwk = key.publicKey.export({ format: 'jwk' });
    const embedded = {
      jwk: { ...another.publicKey.export({ format: 'jwk' }) },
      jku: 'http://127.0.0.1:1/',
      x5u: 'http://127.0.0.1:1/',
    };
    // In Latin-1, each of these characters is one byte that is invalid in UTF-8.
    const invalidUtf8 = Buffer.from(JSON.stringify(claims({ sub: '\xff\xfe' })), 'latin1');
    const cases: Record<string, string> = {
      '2.1: signed with the public key as a secret, in PEM': asSecret(
        key.publicKey.export({ type: 'spki', format: 'pem' }),
      ),
      '2.1: signed with the public key as a secret, in DER': asSecret(
        key.publicKey.export({ type: 'spki', format: 'der' }),
      ),
      '2.1: signed with the public key as a secret, as a JWK': asSecret(JSON.stringify(publicJwk)),
      '2.1: signed with the public key as a secret, as the JWK that is published': asSecret(
        JSON.stringify({ ...publicJwk, kid: 'first', alg: 'RS256' }),
      ),
      '3.1: with another algorithm than that of the key': signToken(key, claims(), { alg: 'PS256' }),
      '3.2: without a signature': `${String(unsigned[0])}.${String(unsigned[1])}.`,
      '3.2: with the algorithm none': unsigned.join('.'),
      '3.2: with another spelling of none': signToken(key, claims(), { alg: 'nOnE' }),
      '3.3: signed by another key of the same id': signToken(another),
      '3.3: changed after they were signed': signToken(key).replace(
        /\.[^.]+\./,
        `.${Buffer.from(JSON.stringify(claims({ sub: 'bob' }))).toString('base64url')}.`,
      ),
      '3.5: signed by an RSA key of 1024 bits': signToken(short),
      '3.7: with a payload that is not UTF-8': signToken(key, invalidUtf8),
      '3.8: of another issuer': signToken(key, claims({ iss: 'https://other.example' })),
      '3.8: without an issuer': signToken(key, claims({ iss: undefined })),
      '3.8: without a subject': signToken(key, claims({ sub: undefined })),
      '3.8: with an empty subject': signToken(key, claims({ sub: '' })),
      '3.8: with a number as subject': signToken(key, claims({ sub: 7 })),
      '3.8: with a subject of more than 255 characters': signToken(key, claims({ sub: 'a'.repeat(256) })),
      '3.9: for another audience': signToken(key, claims({ aud: ['other'] })),
      '3.9: without an audience': signToken(key, claims({ aud: undefined })),
      '3.10: signed by the key in their own header': signToken(another, claims(), embedded),
      '3.10: with a path as kid': signToken(key, claims(), { kid: '../../../../dev/null' }),
      '3.10: with SQL as kid': signToken(key, claims(), { kid: "x' UNION SELECT 'first" }),
      '3.10: with an object as kid': signToken(key, claims(), { kid: { $ne: '' } }),
      '3.11: of another type': signToken(key, claims(), { typ: 'JWT' }),
      '3.11: without a type': signToken(key, claims(), { typ: undefined }),
      'RFC 7515, 4.1.11: with an unknown critical header': signToken(key, claims(), { crit: ['other'], other: 1 }),
      'RFC 7519, 4.1.4: expired': signToken(key, claims({ exp: past(60) })),
      'RFC 7519, 4.1.4: without an expiry': signToken(key, claims({ exp: undefined })),
      'RFC 7519, 4.1.4: with a text as expiry': signToken(key, claims({ exp: String(now + 600) })),
      'RFC 7519, 4.1.5: not valid yet': signToken(key, claims({ nbf: now + 120 })),
      'RFC 7519, 7.2: that are not JSON': `${Buffer.from('{').toString('base64url')}.e30.x`,
      'RFC 7519, 7.2: that are encrypted': 'e30.a.b.c.d',
    };
    const rejection = expect.objectContaining({
      status: 401,
      challenge: expect.stringContaining('"invalid_token"') as string,
    }) as object;
    const results: Record<string, object> = {};
    for (const [index, [name, token]] of Object.entries(cases).entries()) {
      // Of an address of its own, because failed attempts are limited.
      const from = { ...bearer(token), 'X-Forwarded-For': `198.51.100.${String(index)}` };
      const { status, headers } = await other.call('getAll', {}, from);
      results[name] = { status, challenge: headers.get('www-authenticate') };
    }
    expect(results).toEqual(Object.fromEntries(Object.keys(cases).map((name) => [name, rejection])));
  });

  it('tokens may name other keys and addresses of keys, which are neither used nor fetched', async () => {
    const another = newSigningKey('first', 'RS256');
    const elsewhere = new KeyServer([another]);
    const url = await elsewhere.listen();
    try {
      const embedded = { jku: url, x5u: url, jwk: another.publicKey.export({ format: 'jwk' }) };
      const { status, body } = await create(api, signToken(key, claims(), embedded));
      expect({ status, seller: body.sellerId }).toEqual({ status: 200, seller: 'jwt:alice' });
      expect(elsewhere.requests).toBe(0);
    } finally {
      await elsewhere.close();
    }
  });

  it('responses say why a token is rejected', async () => {
    expect((await read(api, signToken(key, claims({ exp: past(60) })))).body.message).toBe('The token has expired');
    expect((await read(api, signToken(key, claims({ aud: 'x' })))).body.message).toMatch(/its aud is not accepted/);
  });

  it("tokens are accepted if the issuer's clock is off by some seconds", async () => {
    expect((await read(api, signToken(key, claims({ exp: past(10) })))).status).toBe(200);
    expect((await read(api, signToken(key, claims({ nbf: past(-10) })))).status).toBe(200);
  });

  it('tokens may be signed with RSA, ECDSA or EdDSA', async () => {
    for (const each of published.keys) expect((await read(api, signToken(each))).status).toBe(200);
  });

  it('tokens have one algorithm for each key that is published without one', async () => {
    const keys = [key, ...otherKeys, newSigningKey('of ES384', 'ES384'), newSigningKey('of ES512', 'ES512')];
    const set = keys.map(({ kid, publicKey }) => ({ ...publicKey.export({ format: 'jwk' }), kid }));
    published.behaviour = (_request, response) => response.end(JSON.stringify({ keys: set }));
    const { api: other } = await startOther();
    for (const each of keys) expect((await read(other, signToken(each))).status).toBe(200);
    for (const alg of ['RS512', 'PS256'])
      expect({ alg, status: (await read(other, signToken(key, claims(), { alg }))).status }).toEqual({
        alg,
        status: 401,
      });
  });

  it('tokens may name their scopes in scp, and have several', async () => {
    for (const scopes of [{ scp: ['a', 'items:create'], scope: undefined }, { scope: 'a items:create b' }])
      expect((await create(api, signToken(key, claims(scopes)))).status).toBe(200);
    expect((await create(api, signToken(key, claims({ scope: 'items:created' })))).status).toBe(403);
  });

  it('tokens may be signed with a shared secret, of another type and for another scope', async () => {
    const more = { AUTH_JWT_SECRET: SECRET, AUTH_TOKEN_TYPE: 'JWT', AUTH_CREATE_SCOPE: 'sell', AUTH_JWKS_URL: '' };
    const { api: other } = await startOther(more);
    const token = signWithSecret(SECRET, claims({ scope: 'sell' }), { typ: 'JWT' });
    expect((await create(other, token)).body.sellerId).toBe('jwt:alice');
    expect((await read(other, signWithSecret(`${SECRET}r`, claims(), { typ: 'JWT' }))).status).toBe(401);
    expect((await read(other, signToken(key, claims(), { typ: 'JWT' }))).status).toBe(401);
  });

  describe('signed with a new key', () => {
    let rotated: RunningApi;
    let cutOff: RunningApi;
    let since: number;

    // The 30 s begin when the keys are fetched.
    beforeAll(async () => {
      since = performance.now();
      [rotated, cutOff] = await Promise.all([startOther(), startOther()]);
      for (const { api: other } of [rotated, cutOff]) await read(other, signToken(key));
    });

    it('tokens signed with a new key are accepted after one more fetch, which happens at most every 30 s', async () => {
      const next = newSigningKey('next');
      const before = published.requests;
      published.keys = [key, next];
      // At once, so that all of them are within the 30 s.
      const unknown = Array.from({ length: 30 }, (_, index) => signToken(key, claims(), { kid: `x${String(index)}` }));
      const responses = await Promise.all(unknown.map((token) => read(rotated.api, token)));
      expect(responses.map(({ status }) => status)).toEqual(unknown.map(() => 401));
      expect(published.requests).toBe(before);
      await eventually(async () => {
        expect((await readOnce(rotated.api, signToken(next))).status).toBe(200);
      }, 90_000);
      // A fetch that takes too long is repeated, after another 30 s.
      const due = Math.floor((performance.now() - since) / 30_000);
      expect(published.requests - before).toBeLessThanOrEqual(due);
    }, 180_000);

    it('tokens make the API degraded if their new key cannot be fetched, although the other keys are not due', async () => {
      await waitForKeys(cutOff);
      published.behaviour = (request) => request.socket.destroy();
      await eventually(async () => {
        expect((await readOnce(cutOff.api, signToken(newSigningKey('next')))).status).toBe(503);
      });
      await eventually(async () => {
        expect((await readiness(cutOff)).body.status).toBe('degraded');
      });
      expect((await read(cutOff.api, signToken(key))).status).toBe(200);
    });
  });

  describe('after some time without requests', () => {
    let idle: ServiceProcess;
    let client: ApiClient;

    beforeEach(async () => {
      idle = ServiceProcess.start('api', {
        ...service.env,
        LOG_LEVEL: 'info',
        NODE_OPTIONS: `--require ${SUSPENDED}`,
      });
      await idle.waitForStatus('ready');
      client = await idle.client();
      await read(client, signToken(key));
    });
    /** Suspends the process for six minutes, once or several times. */
    const suspend = async (times = 1): Promise<void> => {
      const count = (): number => idle.log.filter(({ msg }) => msg === 'suspended').length;
      for (const end = count() + times; count() < end;) {
        const next = count() + 1;
        idle.signal('SIGUSR2');
        await eventually(() => {
          expect(count()).toBe(next);
        });
      }
    };

    it('tokens are rejected after six minutes without requests if their key has been removed', async () => {
      published.keys = otherKeys;
      const status = await eventually(async () => {
        await suspend();
        const { status } = await read(client, signToken(key));
        // Unless the keys could not be fetched in time.
        expect(await idle.ready()).toMatchObject({ status: 'ready' });
        return status;
      });
      expect(status).toBe(401);
    });

    it('tokens are accepted after six minutes without requests if the keys cannot be fetched, which is tried and reported once in 30 s', async () => {
      published.behaviour = (request) => request.socket.destroy();
      await suspend();
      const [before, firstLine] = [published.requests, idle.log.length];
      const end = performance.now() + 2500;
      for (let unknown = 0; performance.now() < end; unknown++) {
        expect((await read(client, signToken(key, claims({ sub: String(unknown) })))).status).toBe(200);
        expect((await readOnce(client, signToken(key, claims(), { kid: String(unknown) }))).status).toBe(503);
        await delay(100);
      }
      expect(published.requests).toBe(before + 1);
      const reports = idle.log.slice(firstLine).filter(({ msg }) => msg === 'AUTH_JWKS_URL cannot be read');
      expect(reports).toHaveLength(1);
    });

    it('tokens get a 503 after an hour without keys, and are accepted once they can be fetched', async () => {
      const tokenOf = (sub: string): string => signToken(key, claims({ sub, exp: past(-7200) }));
      published.behaviour = (request) => request.socket.destroy();
      await suspend(9);
      expect((await read(client, tokenOf('within the hour'))).status).toBe(200);
      await suspend(2);
      for (const sub of ['within the hour', 'after it']) {
        const { status, headers } = await readOnce(client, tokenOf(sub));
        expect({ status, retryAfter: headers.get('retry-after') }).toEqual({ status: 503, retryAfter: '1' });
      }
      published.behaviour = undefined;
      await eventually(async () => {
        expect((await readOnce(client, tokenOf('after it'))).status).toBe(200);
      });
    });
  });

  it('tokens without a kid are rejected if several keys match, and the response says so', async () => {
    published.keys = [key, newSigningKey('next', 'RS256')];
    const { api: other } = await startOther();
    expect((await read(other, signToken(key, claims(), { kid: undefined }))).body.message).toBe(
      'The token is not valid: it needs a kid, because several keys match',
    );
  });

  it('tokens signed with a known key are accepted while the keys cannot be fetched', async () => {
    expect((await read(api, signToken(key))).status).toBe(200);
    published.behaviour = (request) => request.socket.destroy();
    expect((await read(api, signToken(key, claims({ sub: 'bob' })))).status).toBe(200);
  });

  it('tokens get a 503 in time while the keys cannot be fetched, and are accepted afterwards', async () => {
    const behaviours: Record<string, NonNullable<KeyServer['behaviour']>> = {
      slow: () => undefined,
      closed: (request) => request.socket.destroy(),
      huge: (_request, response) => response.end(`{"keys":[],"more":"${'x'.repeat(2_000_000)}"}`),
      endless: (_request, response) => {
        const more = setInterval(() => response.write(' '.repeat(10_000)), 1);
        response.on('close', () => {
          clearInterval(more);
        });
      },
      redirect: (_request, response) => response.writeHead(302, { Location: '/elsewhere' }).end(),
      html: (_request, response) => response.end('<html>'),
      null: (_request, response) => response.end('null'),
      numbers: (_request, response) => response.end('{"keys":[1]}'),
      error: (_request, response) => response.writeHead(500).end(published.keySet),
    };
    published.behaviour = behaviours['closed'];
    const { api: other } = await startOther();
    for (const [name, behaviour] of Object.entries(behaviours)) {
      published.behaviour = behaviour;
      const before = published.requests;
      // After a failure, the next fetch waits for a second.
      await eventually(async () => {
        const startedAt = performance.now();
        const { status, headers } = await readOnce(other, signToken(key));
        expect({ name, status, retryAfter: headers.get('retry-after') }).toEqual({
          name,
          status: 503,
          retryAfter: '1',
        });
        expect(performance.now() - startedAt).toBeLessThan(10_000);
        expect(published.requests).toBeGreaterThan(before);
      });
    }
    expect((await other.call('getAll', {})).status).toBe(200);
    published.behaviour = undefined;
    expect((await read(other, signToken(key))).status).toBe(200);
  });

  it('tokens whose keys cannot be fetched make the API degraded until they can', async () => {
    published.behaviour = (request) => request.socket.destroy();
    const other = await startOther();
    const ok = { mongodb: 'ok', redis: 'ok' };
    const tokenKeys = 'AUTH_JWKS_URL cannot be read: tokens are refused, unless their keys are known';
    await eventually(async () => {
      const degraded = { status: 200, body: { status: 'degraded', parts: { ...ok, tokenKeys } } };
      expect(await readiness(other)).toMatchObject(degraded);
    });
    expect(await other.metrics()).toContain('item_listing_part_ok{part="tokenKeys"} 0');
    published.behaviour = undefined;
    await eventually(async () => {
      expect((await readiness(other)).body).toMatchObject({ status: 'ready', parts: { ...ok, tokenKeys: 'ok' } });
    });
  });

  it('tokens that are invalid are limited for each address, without keeping valid callers out', async () => {
    const from = (ip: string, token: string): Promise<HttpResponse<ErrorBody>> =>
      api.call('getAll', {}, { ...bearer(token), 'X-Forwarded-For': ip });
    expect((await from('198.51.100.7', signToken(key))).status).toBe(200);
    const valid = [{ sub: 'carol' }, { sub: 'dave', groups: 'x'.repeat(8000) }].map((changes) =>
      signToken(key, claims(changes)),
    );
    for (const token of valid) expect((await from('2001:db8:1:2::3', token)).status).toBe(200);
    for (let failed = 0; failed < 20; failed++)
      expect((await from(`2001:db8:1:2::${String(failed)}`, 'x.y.z')).status).toBe(401);
    const refused = await from('2001:db8:1:2:ffff::', 'x.y.z');
    expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 429, code: 'TOO_MANY_REQUESTS' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    for (const token of valid) expect((await from('2001:db8:1:2::3', token)).status).toBe(200);
    expect((await from('2001:db8:1:3::3', 'x.y.z')).status).toBe(401);
  });

  it('tokens of one megabyte are rejected unread', async () => {
    const connection = await RawConnection.open(api.base);
    connection.send('POST /api/orpc/items/getAll HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ');
    connection.send('a'.repeat(1_000_000));
    expect((await connection.nextResponse()).status).toBe(431);
    connection.destroy();
  });
});
