import { join } from 'node:path';
import { SchemaRepository, type Database } from '@app/database';
import { createApiKey } from '../support/api-keys.js';
import { createRedis, removeDatabaseServers, startRedis } from '../support/database-servers.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { validInput } from '../support/items.js';
import { endProcesses, killProcesses, ServiceProcess } from '../support/processes.js';
import { RawConnection } from '../support/raw-connection.js';
import { AUDIENCE, bearer, claims, ISSUER, signWithSecret } from '../support/token-issuer.js';

const SECRET = 'nobody may read this';

describe('the log', () => {
  let env: NodeJS.ProcessEnv;
  let database: Database;

  beforeAll(async () => {
    env = freshEnvironment({ CREATE_WAIT_MS: '60000', LOG_LEVEL: 'info' });
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
  });
  afterEach(() => endProcesses());
  afterAll(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });

  async function startApi(more: NodeJS.ProcessEnv): Promise<ServiceProcess> {
    const api = ServiceProcess.start('api', { ...env, ...more });
    await api.waitForStatus('ready');
    return api;
  }
  const requestsIn = (process: ServiceProcess): unknown[] => process.log.filter(({ msg }) => msg === 'request');

  it.each(['on', 'off'])(
    'the log contains a line for each request with LOG_ACCESS=on (fast lane %s)',
    async (FAST_LANE) => {
      const api = await startApi({ LOG_ACCESS: 'on', FAST_LANE });
      const client = await api.client();
      await client.call('getById', { id: 'f'.repeat(24) }, { 'X-Request-Id': 'shop-1', Authorization: SECRET });
      await fetch(`${client.base}/docs?token=${SECRET}`, { headers: { 'X-Request-Id': 'shop-2' } });
      const common = { level: 30, ip: '127.0.0.1', ms: expect.any(Number) as number };
      await eventually(() => {
        const path = '/api/orpc/items/getById';
        const first = { ...common, requestId: 'shop-1', method: 'POST', path, status: 404 };
        const second = { ...common, requestId: 'shop-2', method: 'GET', path: '/docs', status: 200 };
        expect(requestsIn(api)).toEqual(
          expect.arrayContaining([expect.objectContaining(first), expect.objectContaining(second)]),
        );
      });
      expect(JSON.stringify(api.log)).not.toContain(encodeURIComponent(SECRET));
      expect(JSON.stringify(api.log)).not.toContain(SECRET);
    },
  );

  it('the log contains requests whose client disconnected', async () => {
    const api = await startApi({ LOG_ACCESS: 'on' });
    const { base } = await api.client();
    const body = JSON.stringify(validInput());
    const headers = { 'Content-Type': 'application/json' };
    // On a busy machine, the API may not have received a request whose client disconnects.
    await eventually(async () => {
      const request = { method: 'POST', headers, body, signal: AbortSignal.timeout(500) };
      await expect(fetch(`${base}/api/orpc/items/create`, request)).rejects.toThrow();
      await eventually(() => {
        expect(requestsIn(api)).toContainEqual(expect.objectContaining({ method: 'POST', status: 'disconnected' }));
      }, 2000);
    });
  });

  it('the log contains requests whose client disconnected within the body', async () => {
    const api = await startApi({ LOG_ACCESS: 'on' });
    const { base } = await api.client();
    const head = 'POST /api/orpc/items/getAll HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    const bodies = ['Content-Length: 10\r\n\r\n{', 'Transfer-Encoding: chunked\r\n\r\n9\r\n{'];
    for (const body of bodies) {
      const connection = await RawConnection.open(base);
      connection.send(head + body);
      // Once it gets a response, the API has read the head of the other connection.
      await fetch(`${base}/health/live`);
      connection.destroy();
    }
    const disconnected = expect.objectContaining({ path: '/api/orpc/items/getAll', status: 'disconnected' }) as unknown;
    await eventually(() => {
      const logged = requestsIn(api).filter((line) => (line as { method: string }).method === 'POST');
      expect(logged).toEqual([disconnected, disconnected]);
    });
  });

  it('the log contains no line for each request by default', async () => {
    const api = await startApi({});
    await (await api.client()).getAll();
    await api.end('SIGTERM');
    expect(requestsIn(api)).toEqual([]);
  });

  it('the log contains an exception that nothing handles, without its data', async () => {
    const NODE_OPTIONS = `--require ${join(__dirname, '..', 'support', 'unhandled-rejection.cjs')}`;
    const api = await startApi({ NODE_OPTIONS });
    api.signal('SIGUSR2');
    const { err } = await api.waitForLog('uncaught exception');
    expect(err).toMatchObject({ message: 'nobody handles this', stack: expect.any(String) as string });
    expect(await api.end()).toMatchObject({ code: 1 });
    expect(JSON.stringify(api.log)).not.toContain(SECRET);
  });

  it.each(['api', 'worker'] as const)(
    'the log contains once why the start of the %s failed, with its cause and without its data',
    async (name) => {
      const NODE_OPTIONS = `--require ${join(__dirname, '..', 'support', 'failing-start.cjs')}`;
      const failing = ServiceProcess.start(name, { ...env, LOG_LEVEL: 'debug', NODE_OPTIONS });
      expect(await failing.end()).toMatchObject({ code: 1 });
      const errors = failing.log.filter((line) => Number(line['level']) >= 50);
      const err = { message: 'E11000 duplicate key error', stack: expect.any(String) as string };
      const cause = { message: 'this is the cause', code: 11000 };
      expect(errors).toMatchObject([{ level: 60, err: { ...err, cause } }]);
      expect([failing.stderr, JSON.stringify(failing.log)]).toEqual(['', expect.not.stringContaining(SECRET)]);
    },
  );

  it('the log contains the warnings of Node.js, as JSON', async () => {
    const NODE_OPTIONS = `--require ${join(__dirname, '..', 'support', 'process-warning.cjs')}`;
    const api = await startApi({ NODE_OPTIONS });
    api.signal('SIGUSR2');
    const { level, err } = await api.waitForLog('process warning');
    expect(level).toBe(40);
    expect(err).toMatchObject({ type: 'DeprecationWarning', message: 'this is deprecated', code: 'TEST' });
    await killProcesses();
    expect(api.stderr).toBe('');
  });

  it('the log contains the warnings of libraries, as JSON', async () => {
    const redis = await createRedis('--maxmemory-policy', 'allkeys-lru');
    await startRedis(redis);
    const worker = ServiceProcess.start('worker', { ...env, REDIS_URL: redis.url });
    const warning = await worker.waitForLog('IMPORTANT! Eviction policy is allkeys-lru. It should be "noeviction"');
    expect(warning).toMatchObject({ level: 40 });
    await endProcesses();
    await removeDatabaseServers();
  });

  it('the log contains no item text if an index of another service rejects an item', async () => {
    const { collection } = database.models.items;
    const index = await collection.createIndex({ name: 1 }, { unique: true }, {});
    const worker = ServiceProcess.start('worker', env);
    await worker.waitForStatus('ready');
    const client = await (await startApi({})).client();
    const input = validInput({ name: SECRET });
    const statuses = [await client.call('create', input), await client.call('create', input)].map(
      (each) => each.status,
    );
    await collection.dropIndex(index);
    expect(statuses).toEqual([200, 500]);
    const { err } = await worker.waitForLog('create failed for good');
    expect(err).toMatchObject({ message: expect.stringContaining('index: name_1') as string });
    expect(JSON.stringify(worker.log)).not.toContain(SECRET);
  });

  it('the log contains no secrets and no credentials of requests, and neither do responses and metrics', async () => {
    const secrets = { jwt: 'a secret of tokens, of at least 256 bits', redis: 'password-of-the-limits' };
    const limits = new URL(String(env['REDIS_URL']));
    // Redis has no such user, so that the processes log its refusals.
    Object.assign(limits, { username: 'limits', password: secrets.redis });
    const settings: NodeJS.ProcessEnv = {
      ...{ LOG_LEVEL: 'trace', LOG_ACCESS: 'on', AUTH_API_KEYS: 'on' },
      ...{ AUTH_JWT_SECRET: secrets.jwt, AUTH_ISSUER: ISSUER, AUTH_AUDIENCE: AUDIENCE },
      ...{ RATE_LIMIT_GETALL: '1000/60', RATE_LIMIT_REDIS_URL: limits.href },
    };
    const [api, worker] = (['api', 'worker'] as const).map((name) =>
      ServiceProcess.start(name, { ...env, ...settings }),
    ) as [ServiceProcess, ServiceProcess];
    await Promise.all([api.waitForStatus('degraded'), worker.waitForStatus('ready')]);
    const key = await createApiKey(database, 'acme');
    const credentials = [
      signWithSecret(secrets.jwt),
      signWithSecret(secrets.jwt, claims({ scope: 'other' })),
      signWithSecret(secrets.jwt, claims({ exp: 1 })),
      signWithSecret(`another ${secrets.jwt}`),
      key,
      `${key.slice(0, -1)}_`,
    ];
    const client = await api.client();
    const seen: unknown[] = [];
    const statuses = new Set<number>();
    for (const credential of credentials) {
      for (const [operation, input] of [
        ['getAll', {}],
        ['getAll', { userId: 'bob' }],
        ['getById', { id: 'f'.repeat(24) }],
        ['create', validInput()],
        ['create', {}],
      ] as const) {
        const { status, headers, body } = await client.call(operation, input, bearer(credential));
        statuses.add(status);
        seen.push([...headers], body);
      }
    }
    expect([...statuses].sort()).toEqual([200, 400, 401, 403, 404]);
    await eventually(() => {
      expect(requestsIn(api).length).toBeGreaterThanOrEqual(30);
      expect(JSON.stringify(api.log)).toContain('WRONGPASS');
    });
    seen.push(await api.metrics(), await worker.metrics(), await api.ready(), api.log, worker.log);
    const output = JSON.stringify(seen);
    const signatures = credentials.slice(0, 4).map((token) => String(token.split('.')[2]));
    for (const secret of [...Object.values(secrets), ...signatures, ...credentials.slice(4)])
      expect(output).not.toContain(secret);
  });

  it('the log contains no item text if the database refuses an item', async () => {
    await database.connection.db?.command({ collMod: 'items', validator: { description: { $ne: SECRET } } });
    const worker = ServiceProcess.start('worker', env);
    await worker.waitForStatus('ready');
    const api = await startApi({});
    const client = await api.client();
    const { status } = await client.call('create', validInput({ description: SECRET }));
    expect(status).toBe(500);
    // The reply may arrive before the line.
    await worker.waitForLog('create failed for good');
    expect(JSON.stringify([api.log, worker.log])).not.toContain(SECRET);
  });
});
