import type { Item } from '@app/contracts';
import { runToExit, type CommandExit } from '../support/command.js';
import { removeDatabaseServers } from '../support/database-servers.js';
import { eventually } from '../support/eventually.js';
import { uniqueWord, validInput } from '../support/items.js';
import { endProcesses, ServiceProcess } from '../support/processes.js';
import { findProgram } from '../support/programs.js';
import { redisHasTls, SecuredStores } from '../support/secured-stores.js';

const describeWithTls = findProgram('openssl') && redisHasTls() ? describe : describe.skip;
const LOCAL = { HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', WORKER_PORT: '0' };
const NAMES = 'DNS:localhost, IP:127.0.0.1';
/** How long a busy machine may take until two processes have connected to the stores. */
const WITHIN_MS = 60_000;

jest.setTimeout(240_000);

describeWithTls('stores with TLS and passwords (skipped unless openssl is on PATH and Redis is built with TLS)', () => {
  let stores: SecuredStores;
  let setup: CommandExit;
  let api: ServiceProcess;
  let worker: ServiceProcess;

  beforeAll(async () => {
    stores = await SecuredStores.start();
    setup = await runToExit('setup', stores.setupEnv, []);
  });
  afterEach(endProcesses);
  afterAll(async () => {
    await removeDatabaseServers();
    await stores.remove();
  });

  const start = (env: NodeJS.ProcessEnv = {}): void => {
    const all = { ...LOCAL, ...stores.env, ...env };
    [api, worker] = [ServiceProcess.start('api', all), ServiceProcess.start('worker', all)];
  };
  const expectReady = async (): Promise<void> => {
    await Promise.all([api, worker].map((process) => process.waitForStatus('ready', WITHIN_MS)));
  };
  const expectLog = (process: ServiceProcess, pattern: RegExp): Promise<void> =>
    eventually(() => {
      expect(process.log.map(({ msg, error = '' }) => `${msg} ${String(error)}`)).toContainEqual(
        expect.stringMatching(pattern),
      );
    }, WITHIN_MS);
  /** Expects both processes to say why they cannot use the stores, and which of them. */
  const expectUnavailable = async (redis: RegExp, mongodb: RegExp): Promise<void> => {
    for (const process of [api, worker]) {
      await expectLog(process, redis);
      await expectLog(process, mongodb);
      expect(process.isRunning).toBe(true);
    }
    expect((await api.ready()).parts).toEqual({ mongodb: 'not seen yet', redis: 'unavailable: creates are refused' });
    expect((await worker.ready()).parts).toMatchObject({ mongodb: 'unavailable', redis: 'unavailable' });
  };

  it('secured stores are prepared by setup with a user of its own', () => {
    expect(setup).toMatchObject({ code: 0, stderr: '' });
    expect(setup.stdout).toContain('MongoDB checks the fields of items that are written');
  });

  it('secured stores serve create, getById and search to users who may do no more than docs/securing.md says', async () => {
    await stores.asRedisAdmin('ACL', 'LOG', 'RESET');
    start({ RATE_LIMIT_CREATE: '100/60' });
    await expectReady();
    const client = await api.client();
    const name = uniqueWord();
    const { id } = await client.create(validInput({ name }));
    expect((await client.call<Item>('getById', { id })).body.name).toBe(name);
    await eventually(async () => {
      expect(await client.getAll({ search: name })).toMatchObject([{ id }]);
    });
    const { stdout, code } = await runToExit('jobs', stores.env, ['list']);
    expect({ stdout, code }).toEqual({ stdout: '0 failed jobs\n', code: 0 });
    expect(await stores.asRedisAdmin('ACL', 'LOG')).toEqual([]);
  });

  it('secured stores are waited for, and named in the log and by readiness, while they reject the password', async () => {
    const wrong = `wrong-${uniqueWord()}`;
    const wrongIn = async (name: string): Promise<string> =>
      (await stores.read(name)).replace(/:[^:@/]+@/, `:${wrong}@`);
    start({
      REDIS_URL_FILE: '',
      REDIS_URL: await wrongIn('redis-url'),
      MONGODB_URI_FILE: '',
      MONGODB_URI: await wrongIn('mongodb-uri'),
    });
    await expectUnavailable(
      /^Redis is unavailable, .*: WRONGPASS/,
      /^MongoDB is unavailable, .*: Authentication failed/,
    );
    const [, password = ''] = /:([^:@/]+)@/.exec(await stores.read('mongodb-uri')) ?? [];
    await stores.asRedisAdmin('ACL', 'SETUSER', 'item-listing', `>${wrong}`);
    await stores.setPassword(wrong);
    await expectReady();
    await stores.setPassword(password);
    await stores.asRedisAdmin('ACL', 'SETUSER', 'item-listing', `<${wrong}`);
  });

  it('secured stores are not trusted without their CA', async () => {
    const uri = await stores.read('mongodb-uri');
    start({
      NODE_EXTRA_CA_CERTS: '',
      MONGODB_URI_FILE: '',
      MONGODB_URI: uri.replace(/&tlsCAFile=[^&]*/, ''),
    });
    const unknown = /(self-signed certificate|unable to (verify|get))/;
    await expectUnavailable(
      new RegExp(`^Redis is unavailable, .*${unknown.source}`),
      new RegExp(`^MongoDB is unavailable, .*${unknown.source}`),
    );
  });

  it('secured stores are not trusted while their certificate is for another host or has expired, and used once it is replaced', async () => {
    await stores.useCertificate(365, 'DNS:other.example');
    start();
    const reason = "does not match certificate's altnames";
    await expectUnavailable(
      new RegExp(`^Redis is unavailable, .*${reason}`),
      new RegExp(`^MongoDB is unavailable, .*${reason}`),
    );
    await stores.useCertificate(-1, NAMES);
    for (const process of [api, worker]) await expectLog(process, /^Redis is unavailable, .*: certificate has expired/);
    expect((await api.ready()).parts).toMatchObject({ redis: 'unavailable: creates are refused' });
    expect((await worker.ready()).parts).toMatchObject({ redis: 'unavailable' });
    await stores.useCertificate(365, NAMES);
    await expectReady();
  });

  it('secured stores are waited for while the user of MongoDB has no role, and that of Redis may not run a command', async () => {
    const change = { roles: ['readWrite'] };
    await stores.asMongodbAdmin({ revokeRolesFromUser: 'item-listing', ...change });
    start();
    for (const process of [api, worker])
      await expectLog(process, /^MongoDB is unavailable, .*: not authorized on item-listing/);
    await stores.asRedisAdmin('ACL', 'SETUSER', 'item-listing', '-eval', '-evalsha');
    await stores.asMongodbAdmin({ grantRolesToUser: 'item-listing', ...change });
    const client = await api.client();
    await eventually(async () => {
      expect((await api.ready()).parts).toMatchObject({ mongodb: 'ok', redis: 'unavailable: creates are refused' });
    });
    expect((await client.callOnce('create', validInput())).status).toBe(503);
    await expectLog(api, /^Redis refuses a command: NOPERM .*'eval'/);
    await expectLog(worker, /^queue error NOPERM .*'evalsha'/);
    await stores.asRedisAdmin('ACL', 'SETUSER', 'item-listing', '+eval', '+evalsha');
    await expectReady();
    await client.create(validInput());
  });

  it('secured stores keep creates that wait while the user of MongoDB has lost its role', async () => {
    const change = { roles: ['readWrite'] };
    start();
    await expectReady();
    const client = await api.client();
    await stores.asMongodbAdmin({ revokeRolesFromUser: 'item-listing', ...change });
    const { body } = await client.call<{ id: string }>('create', validInput(), { Prefer: 'respond-async' });
    const { reason } = await worker.waitForLog('taking no jobs');
    expect(reason).toMatch(/^MongoDB refuses writes: not authorized on item-listing$/);
    expect((await client.callOnce('getAll', {})).status).toBe(503);
    await stores.asMongodbAdmin({ grantRolesToUser: 'item-listing', ...change });
    await eventually(async () => {
      expect((await client.call('getById', { id: body.id })).status).toBe(200);
    });
    expect(worker.log.map(({ msg }) => msg)).not.toContain('create failed for good');
  });

  it.each([
    ['a Sentinel with a password of its own', () => stores.startSentinel()],
    ['a Cluster', () => stores.startCluster()],
  ])('secured stores serve creates through %s', async (_, startAnother) => {
    start({ REDIS_URL_FILE: '', REDIS_URL: await startAnother() });
    await expectReady();
    await (await api.client()).create(validInput());
  });

  it('secrets never appear in logs, metrics, health checks, errors or the output of commands', async () => {
    const tokens = { ADMIN_TOKEN: uniqueWord().repeat(2), METRICS_TOKEN: uniqueWord().repeat(2) };
    const secrets = { ...tokens, IDEMPOTENCY_SECRET: uniqueWord().repeat(2) };
    start({ ...secrets, LOG_LEVEL: 'trace', LOG_ACCESS: 'on' });
    await expectReady();
    const seen: unknown[] = [];
    const look = async (): Promise<void> => {
      const base = (await api.client()).base;
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': uniqueWord() };
      const body = JSON.stringify(validInput());
      const create = { method: 'POST', headers, body };
      const authorization = { headers: { Authorization: `Bearer ${tokens.METRICS_TOKEN}` } };
      const [forApi, forWorker] = [await api.adminUrl(), await worker.adminUrl()];
      const responses = await Promise.all([
        fetch(`${base}/health/ready`),
        fetch(`${base}/api/orpc/items/getAll`, { ...create, body: '{}' }),
        fetch(`${base}/api/orpc/items/create`, create),
        ...[forApi, forWorker].map((url) => fetch(`${url}/health/ready`)),
        ...[forApi, forWorker].map((url) => fetch(`${url}/metrics`, authorization)),
        ...[forApi, forWorker].map((url) => fetch(`${url}/queues`)),
      ]);
      for (const response of responses) seen.push(response.status, [...response.headers], await response.text());
    };
    await look();
    // The changed password is noticed by new connections.
    await stores.asRedisAdmin('ACL', 'SETUSER', 'item-listing', 'off');
    await stores.asRedisAdmin('CLIENT', 'KILL', 'USER', 'item-listing');
    await stores.mongod.kill();
    await expectLog(api, /WRONGPASS/);
    await look();
    seen.push(await runToExit('jobs', stores.env, ['list']));
    stores.mongod.start();
    await stores.asRedisAdmin('ACL', 'SETUSER', 'item-listing', 'on');
    await expectReady();
    await look();
    seen.push(api.log, api.stderr, worker.log, worker.stderr);
    const output = JSON.stringify(seen);
    expect(output).toContain('item_listing');
    for (const secret of [...stores.secrets, ...Object.values(secrets)]) expect(output).not.toContain(secret);
    expect(output).not.toMatch(/rediss?:\/\/|mongodb:\/\//);
  });
});
