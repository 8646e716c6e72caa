import { setTimeout as delay } from 'node:timers/promises';
import type { ErrorBody, Item } from '@app/contracts';
import { ApiKeyRepository } from '@app/database';
import type { ApiClient, HttpResponse } from './support/api-client.js';
import { runToExit, type CommandExit } from './support/command.js';
import { createMongodb, removeDatabaseServers, startMongodb, type DatabaseServer } from './support/database-servers.js';
import { eventually } from './support/eventually.js';
import { validInput } from './support/items.js';
import { startApi, startService, type Service } from './support/service.js';
import { bearer } from './support/token-issuer.js';

/** A revoked key is rejected within this time. */
const REVOKED_WITHIN_MS = 1000;
const DAY_MS = 86_400_000;

describe('API keys', () => {
  let mongod: DatabaseServer;
  let service: Service;
  let api: ApiClient;

  beforeAll(async () => {
    mongod = await createMongodb();
    await startMongodb(mongod);
    service = await startService({ env: { MONGODB_URI: mongod.url, AUTH_API_KEYS: 'on', TRUST_PROXY: 'loopback' } });
    ({ api } = service);
  });
  afterEach(async () => {
    mongod.resume();
    await service.database.models.apiKeys.deleteMany({});
  });
  afterAll(async () => {
    await service.stop();
    await removeDatabaseServers();
  });

  const keys = (...args: string[]): Promise<CommandExit> => runToExit('keys', service.env, args);
  /** Creates a key of acme without the command, which takes as long as all requests of a test. */
  async function createKey(): Promise<{ id: string; key: string }> {
    const expiresAt = new Date(Date.now() + DAY_MS);
    const wanted = { owner: 'acme', scopes: ['items:create'], expiresAt };
    const { key, record } = await new ApiKeyRepository(service.database).create(wanted);
    return { id: record.id, key };
  }
  const create = (key: string): Promise<HttpResponse<Item>> => api.call('create', validInput(), bearer(key));
  const read = (key: string, client = api): Promise<HttpResponse<ErrorBody>> => client.call('getAll', {}, bearer(key));

  it('API keys make their owner the seller of the items', async () => {
    const { stdout, stderr, code } = await keys('create', '--owner', 'acme');
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'Keep this key: it cannot be shown again.\n' });
    const key = stdout.trim();
    expect(key).toMatch(/^ils_[0-9A-Za-z]{49}$/);
    expect((await create(key)).body.sellerId).toBe('key:acme');
    expect((await api.call('create', validInput())).status).toBe(401);
  });

  it('API keys are stored as digests only', async () => {
    const { key } = await createKey();
    const stored = await service.database.models.apiKeys.find().lean();
    expect(stored).toHaveLength(1);
    expect(JSON.stringify(stored)).not.toContain(key.slice(4, 20));
    expect((await keys('list')).stdout).not.toContain(key.slice(4, 20));
  });

  it('API keys are rejected if they do not exist, are mistyped or have expired', async () => {
    const { key } = await createKey();
    const mistyped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    for (const wrong of [mistyped, key.slice(0, -1), `${key}0`, key.toLowerCase(), 'ils_']) {
      const { status, body, headers } = await read(wrong);
      expect({ wrong, status, message: body.message }).toEqual({
        wrong,
        status: 401,
        message: 'The API key does not exist',
      });
      expect(headers.get('www-authenticate')).toContain('error="invalid_token"');
    }
    await service.database.models.apiKeys.updateOne({}, { expiresAt: new Date() });
    expect((await read(key)).body.message).toBe('The API key has expired');
  });

  it('API keys are rejected by all instances within a second after they are revoked', async () => {
    const second = await startApi(service.env);
    try {
      const { key, id } = await createKey();
      const another = await createKey();
      for (const client of [api, second.api]) expect((await read(key, client)).status).toBe(200);
      expect((await keys('revoke', id)).stdout).toMatch(new RegExp(`^${id}  acme  revoked `));
      // Uses the key all the time, as a client would, so that it stays in the caches as long as possible.
      const end = performance.now() + REVOKED_WITHIN_MS;
      while (performance.now() < end) await Promise.all([read(key), read(key, second.api), delay(20)]);
      for (const client of [api, second.api]) {
        const { status, body } = await read(key, client);
        expect({ status, message: body.message }).toEqual({ status: 401, message: 'The API key is revoked' });
        expect((await read(another.key, client)).status).toBe(200);
      }
    } finally {
      await second.stop();
    }
  });

  it('API keys lack the scope of creates if they were created with another', async () => {
    const { stdout } = await keys('create', '--owner', 'acme', '--scope', 'other');
    const key = stdout.trim();
    expect((await read(key)).status).toBe(200);
    expect((await create(key)).status).toBe(403);
  });

  it('API keys do not give access to the favourites of users', async () => {
    const { key } = await createKey();
    const list = async (userId: string): Promise<number> => (await api.call('getAll', { userId }, bearer(key))).status;
    expect(await list('acme')).toBe(403);
    expect(await list('key:acme')).toBe(200);
  });

  it('API keys get a 503 while MongoDB is unavailable, and are valid again afterwards', async () => {
    const { key } = await createKey();
    await mongod.pause();
    const { status, headers } = await api.callOnce('create', validInput(), bearer(key));
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('1');
    mongod.resume();
    await eventually(async () => {
      expect((await create(key)).status).toBe(200);
    });
  });

  it('an owner may have two API keys, so that one can replace the other', async () => {
    const { stdout } = await keys('create', '--json', '--owner', 'acme', '--days', '7');
    const first = JSON.parse(stdout) as { id: string; expiresAt: string };
    expect(new Date(first.expiresAt).getTime() - Date.now()).toBeCloseTo(7 * DAY_MS, -5);
    await createKey();
    const third = await keys('create', '--owner', 'acme');
    expect(third).toMatchObject({ code: 2, stdout: '' });
    expect(third.stderr).toMatch(/^acme already has the keys \S+ and \S+: revoke one of them first\n$/);
    await keys('revoke', first.id);
    expect((await keys('create', '--owner', 'acme')).code).toBe(0);
    const listed = (await keys('list')).stdout.trim().split('\n');
    expect(listed.map((line) => line.split('  ')[2]?.split(' ')[0])).toEqual(['revoked', 'expires', 'expires']);
  });

  it.each([
    [['create']],
    [['create', '--owner', 'a b']],
    [['create', '--owner', 'a', '--days', '0']],
    [['create', '--owner', 'a', '--scope', 'a b']],
    [['revoke']],
    [['list', '--owner', 'a']],
    [['revoke', '000000000000', '--days', '1']],
    [['remove', 'x']],
    [[]],
  ])('API keys are not changed by the command keys %j', async (args) => {
    const { code, stdout, stderr } = await keys(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/usage: keys|^--\w+ must be /);
  });

  it('API keys cannot be revoked if they do not exist', async () => {
    for (const id of ['000000000000', '$ne', ''])
      expect(await keys('revoke', id)).toMatchObject({ code: 1, stdout: `${id} does not exist\n` });
    expect((await keys('list')).stdout).toBe('no keys\n');
  });

  it('API keys are not accepted unless they are turned on', async () => {
    const other = await startApi({ ...service.env, AUTH_API_KEYS: 'off' });
    expect((await read('ils_', other.api)).status).toBe(200);
    await other.stop();
  });
});
