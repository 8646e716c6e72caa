import { readFileSync } from 'node:fs';
import { request, type RequestOptions } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { untilServed } from '../support/api-client.js';
import { createRedis, removeDatabaseServers, startRedis, type DatabaseServer } from '../support/database-servers.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { endProcesses, ServiceProcess } from '../support/processes.js';
import { createJob, openQueue } from '../support/queue.js';
import { SchemaRepository, type Database } from '@app/database';

const ADMIN_TOKEN = 'the token of this test for operators';
const METRICS_TOKEN = 'the token of this test for Prometheus';
const TOKENS = { ADMIN_TOKEN, METRICS_TOKEN };

describe('the endpoints for operators', () => {
  let env: NodeJS.ProcessEnv;
  let redis: DatabaseServer;
  let database: Database;
  let api: ServiceProcess;
  let apiWithTokens: ServiceProcess;
  let worker: ServiceProcess | undefined;

  beforeAll(async () => {
    redis = await createRedis();
    await startRedis(redis);
    env = freshEnvironment({ REDIS_URL: redis.url, LOG_LEVEL: 'info' });
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    [api, apiWithTokens] = await Promise.all([start('api'), start('api', TOKENS)]);
  });
  // It would take the jobs of the next tests.
  afterEach(() => worker?.end('SIGKILL'));
  afterAll(async () => {
    await endProcesses();
    await database.connection.dropDatabase();
    await database.close();
    await removeDatabaseServers();
  });

  async function start(name: 'api' | 'worker', more: NodeJS.ProcessEnv = {}): Promise<ServiceProcess> {
    const process = ServiceProcess.start(name, { ...env, ...more });
    await process.waitForStatus('ready');
    return process;
  }

  /** Requests a page, and requests it again while a store has too little time. */
  const get = (url: string): Promise<Response> => untilServed(() => fetch(url));

  it('the endpoints for operators have a port of their own on the API, whose public port has only health checks', async () => {
    const { base } = await api.client();
    const url = await api.adminUrl();
    for (const path of ['/health/live', '/health/ready']) {
      expect((await get(`${base}${path}`)).status).toBe(200);
      expect((await get(`${url}${path}`)).status).toBe(200);
    }
    for (const path of ['/metrics', '/queues', '/queues/api/queues']) {
      expect((await get(`${base}${path}`)).status).toBe(404);
      expect((await get(`${url}${path}`)).status).toBe(200);
    }
  });

  it.each([
    ['public', 200, 404],
    ['admin', 404, 200],
    ['off', 404, 404],
  ])('the docs page and the OpenAPI document are served where DOCS says: %s', async (DOCS, onPublic, onAdmin) => {
    const process = await start('api', { DOCS });
    const { base } = await process.client();
    const url = await process.adminUrl();
    for (const path of ['/docs', '/docs/page.js', '/docs/swagger-ui-bundle.js', '/openapi.json']) {
      expect({ path, status: (await get(`${base}${path}`)).status }).toEqual({ path, status: onPublic });
      expect({ path, status: (await get(`${url}${path}`)).status }).toEqual({ path, status: onAdmin });
    }
    if (DOCS !== 'admin') return;
    const document = readFileSync(join(__dirname, '..', '..', 'openapi.json'), 'utf8');
    expect(await (await get(`${url}/openapi.json`)).json()).toEqual(JSON.parse(document));
  });

  it('the endpoints for operators are also on the port of the worker', async () => {
    worker = await start('worker');
    for (const path of ['/health/live', '/health/ready', '/metrics', '/queues'])
      expect((await get(`${await worker.adminUrl()}${path}`)).status).toBe(200);
  });

  it('the endpoints for operators do not keep an API from serving if their port is taken', async () => {
    const { port } = new URL(await api.adminUrl());
    const second = await start('api', { ADMIN_PORT: port });
    expect(await (await second.client()).getAll()).toEqual([]);
    const warning = await second.waitForLog(
      'ADMIN_HOST or ADMIN_PORT cannot be used: metrics and queues are not served',
    );
    expect(second.log.filter(({ msg, level }) => Number(level) > 30 || msg.includes('EADDRINUSE'))).toEqual([warning]);
    expect(warning).toMatchObject({ level: 40, err: { code: 'EADDRINUSE' } });
  });

  it('the endpoints for operators make the start fail if they do not work for another reason than the port', async () => {
    const NODE_OPTIONS = `--require ${join(__dirname, '..', 'support', 'failing-listen.cjs')}`;
    const failing = ServiceProcess.start('api', { ...env, NODE_OPTIONS });
    const { err } = await failing.waitForLog('uncaught exception');
    expect(err).toMatchObject({ message: 'not a function' });
    expect(await failing.end()).toMatchObject({ code: 1 });
    expect(failing.log.map(({ msg }) => msg)).toEqual(['uncaught exception']);
  });

  describe('with tokens', () => {
    const bearer = (token: string): object => ({ Authorization: `Bearer ${token}` });
    const basic = (token: string): object => ({ Authorization: `Basic ${btoa(`any:${token}`)}` });

    it.each(['api', 'worker'] as const)(
      'the endpoints for operators accept only requests with the right token: %s',
      async (name) => {
        const process = name === 'api' ? apiWithTokens : await start(name, TOKENS);
        if (name === 'worker') worker = process;
        const status = async (path: string, headers: object): Promise<number> =>
          (await send(`${await process.adminUrl()}${path}`, { headers: { ...headers } })).status;
        for (const scheme of [bearer, basic]) {
          expect(await status('/metrics', scheme(METRICS_TOKEN))).toBe(200);
          expect(await status('/metrics', scheme(ADMIN_TOKEN))).toBe(401);
          expect(await status('/queues', scheme(ADMIN_TOKEN))).toBe(200);
          expect(await status('/queues', scheme(METRICS_TOKEN))).toBe(401);
        }
        const wrong = [
          {},
          bearer(''),
          bearer(`${ADMIN_TOKEN}!`),
          { Authorization: ADMIN_TOKEN },
          { Authorization: 'Basic' },
        ];
        for (const headers of wrong)
          for (const path of ['/metrics', '/queues', '/queues/api/queues', '/queues/static/js/main.js', '/QUEUES/'])
            expect(await status(path, headers)).toBe(401);
        expect(await status('/health/ready', {})).toBe(200);
        expect(JSON.stringify(process.log)).not.toContain('the token of this test');
      },
    );

    it('the endpoints for operators ask browsers for a token', async () => {
      const { headers } = await send(`${await apiWithTokens.adminUrl()}/queues`);
      expect(headers['www-authenticate']).toMatch(/^Basic realm=/);
    });
  });

  it('the endpoints for operators show at most 100 jobs of the queue at a time, however many a request asks for', async () => {
    const url = await api.adminUrl();
    const jobs = openQueue(env);
    await jobs.queue.addBulk(Array.from({ length: 150 }, () => ({ name: 'create', data: createJob() })));
    const query = 'activeQueue=item-create&status=waiting&jobsPerPage=1000';
    const shown = (await (await get(`${url}/queues/api/queues?${query}`)).json()) as { queues: { jobs: object[] }[] };
    await jobs.queue.obliterate({ force: true });
    await jobs.close();
    expect(shown.queues[0]?.jobs).toHaveLength(100);
  });

  describe('without tokens', () => {
    it('the endpoints for operators show the queue without a token only to those who open it on this machine, by its name', async () => {
      const url = `${await api.adminUrl()}/queues`;
      const { port } = new URL(url);
      for (const Host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
        expect((await send(url, { headers: { Host } })).status).toBe(200);
      for (const Host of ['rebound.example', `rebound.example:${port}`, 'localhost.rebound.example', '[', '127.0.0.2'])
        expect((await send(url, { headers: { Host } })).status).toBe(403);
    });
  });

  describe('on requests that change the queue', () => {
    const change = async (path: string, headers: object, method = 'PUT') => {
      const url = `${await apiWithTokens.adminUrl()}/queues${path}`;
      const Authorization = `Bearer ${ADMIN_TOKEN}`;
      const { origin } = new URL(url);
      return send(url, { method, headers: { Authorization, ...(headers === OWN ? { Origin: origin } : headers) } });
    };
    const OWN = {};

    it.each([
      ['none', { 'X-No': 'origin' }],
      ['another', { Origin: 'https://other.example' }],
      ['null', { Origin: 'null' }],
    ])('requests that change the queue are refused if their Origin does not match: %s', async (_case, headers) => {
      expect(await change('/api/queues/item-create/retry/failed', headers)).toMatchObject({ status: 403 });
    });

    it.each([
      ['PUT', '/api/queues/pause'],
      ['PUT', '/api/queues/item-create/pause'],
      ['PUT', '/api/queues/item-create/empty'],
      ['PUT', '/api/queues/item-create/obliterate'],
      ['PUT', '/api/queues/item-create/promote'],
      ['PUT', '/api/queues/item-create/concurrency'],
      ['PUT', '/api/queues/item-create/clean/completed'],
      ['PUT', '/api/queues/item-create/clean/wait'],
      ['PUT', '/api/queues/item-create/retry/completed'],
      ['POST', '/api/queues/item-create/add'],
    ])('requests that could lose creates are refused: %s %s', async (method, path) => {
      const { status, body } = await change(path, OWN, method);
      expect(status).toBe(403);
      expect(body).toContain('nothing else');
      const jobs = openQueue(env);
      expect(await jobs.queue.isPaused()).toBe(false);
      await jobs.close();
    });
  });

  it('the endpoints for operators report that Redis is unavailable', async () => {
    const url = await api.adminUrl();
    await redis.kill();
    expect((await fetch(`${url}/queues/api/queues`)).status).toBe(503);
    await startRedis(redis);
    await eventually(async () => {
      expect((await fetch(`${url}/queues/api/queues`)).status).toBe(200);
    });
    await Promise.all([api, apiWithTokens].map((process) => process.waitForStatus('ready')));
  });
});

interface Sent {
  status: number;
  headers: Record<string, unknown>;
  body: string;
}

/** Sends a request with any headers, and sends it again while Redis has too little time. `fetch` sets Host itself. */
async function send(url: string, options: RequestOptions = {}): Promise<Sent> {
  return untilServed(
    () =>
      new Promise<Sent>((resolve, reject) => {
        const sent = request(url, { agent: false, ...options }, (response) => {
          const { statusCode = 0, headers } = response;
          text(response).then((body) => {
            resolve({ status: statusCode, headers, body });
          }, reject);
        });
        sent.on('error', reject).end();
      }),
  );
}
