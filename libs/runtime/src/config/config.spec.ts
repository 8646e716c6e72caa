import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadApiConfig, loadCliConfig, loadWorkerConfig } from './config.js';

/** The settings that are declared as secrets, or have names of secrets. */
const SECRETS = readFileSync(join(__dirname, 'settings.ts'), 'utf8')
  .split('\n')
  .filter((line) => /^ {2}[A-Z_]+: (secret\(|SECRET)|^ {2}[A-Z_]*(_SECRET|_TOKEN|_URI|REDIS_URL): /.test(line))
  .map((line) => line.trim().replace(/:.*/, ''));

const stores = { MONGODB_URI: 'mongodb://localhost:27017/items', REDIS_URL: 'redis://localhost' };

describe('configuration', () => {
  it('the configuration requires only the addresses of the two databases', () => {
    expect(loadApiConfig(stores)).toEqual({
      mongodbUri: stores.MONGODB_URI,
      redisUrl: stores.REDIS_URL,
      host: '0.0.0.0',
      port: 3000,
      adminHost: '127.0.0.1',
      adminPort: 3002,
      adminToken: undefined,
      metricsToken: undefined,
      createWaitMs: 10_000,
      backlog: { jobs: 10_000, bytes: 268_435_456 },
      sellerBacklog: undefined,
      maxBodyBytes: 1_048_576,
      maxItemBytes: 65_536,
      maxConnections: 10_000,
      keepAliveMs: 75_000,
      auth: undefined,
      limits: undefined,
      fastLane: true,
      logAccess: false,
      docs: 'public',
      corsOrigins: [],
      trustProxy: [],
      idempotencySecret: undefined,
      publicSiteUrl: 'http://localhost:3000',
      queuePrefix: 'item-listing',
      logLevel: 'info',
      tracing: false,
      isTraceSamplerSet: false,
    });
    expect(loadWorkerConfig(stores)).toMatchObject({ port: 3001, concurrency: 128 });
    expect(loadCliConfig(stores)).toMatchObject({
      maxItemBytes: 65_536,
      validateWrites: true,
      isProduction: false,
      demoCatalogue: undefined,
    });
  });

  it('the configuration treats an empty variable as missing', () => {
    expect(loadApiConfig({ ...stores, PORT: '', LOG_LEVEL: '' })).toMatchObject({ port: 3000, logLevel: 'info' });
    expect(loadApiConfig({ ...stores, SELLER_BACKLOG_LIMIT: '' }).sellerBacklog).toBeUndefined();
    expect(() => loadApiConfig({ ...stores, REDIS_URL: '' })).toThrow('REDIS_URL is missing');
  });

  it.each([
    ['MONGODB_URI', 'http://user:secret@host'],
    ['MONGODB_URI', 'mongodb://'],
    ['REDIS_URL', 'secret'],
    ['SELLER_BACKLOG_LIMIT', '-1'],
    ['SELLER_BACKLOG_BYTES', '0'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['PORT', 'secret'],
    ['CREATE_WAIT_MS', '1e4'],
    ['BACKLOG_LIMIT', 'many'],
    ['BACKLOG_BYTES', '-5'],
    ['MAX_BODY_BYTES', '0'],
    ['MAX_ITEM_BYTES', '1048577'],
    ['MAX_CONNECTIONS', 'none'],
    ['KEEP_ALIVE_MS', '75s'],
    ['FAST_LANE', 'yes'],
    ['LOG_ACCESS', 'yes'],
    ['DOCS', 'on'],
    ['CORS_ORIGINS', '*'],
    ['CORS_ORIGINS', 'null'],
    ['CORS_ORIGINS', 'shop.example'],
    ['CORS_ORIGINS', 'https://secret.example/path'],
    ['CORS_ORIGINS', 'https://shop.example/'],
    ['CORS_ORIGINS', 'https://shop.example:443'],
    ['CORS_ORIGINS', 'https://Shop.example'],
    ['CORS_ORIGINS', 'https://*.shop.example'],
    ['CORS_ORIGINS', 'https://shop.example,'],
    ['CORS_ORIGINS', 'ftp://shop.example'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '-1'],
    ['TRUST_PROXY', '10.0.0.256'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', '0.0.0.0/0'],
    ['TRUST_PROXY', 'loopback,::/0'],
    ['TRUST_PROXY', 'secret.example'],
    ['IDEMPOTENCY_SECRET', 'secret of 31 letters and digits'],
    ['ADMIN_PORT', '65536'],
    ['ADMIN_TOKEN', 'secret'],
    ['METRICS_TOKEN', 'secret'],
    ['PUBLIC_SITE_URL', 'shop.example'],
    ['QUEUE_PREFIX', 'a:b'],
    ['LOG_LEVEL', 'loud'],
  ])('the configuration rejects %s=%s with one line that names the rule but not the value', (name, value) => {
    const load = (): unknown => loadApiConfig({ ...stores, [name]: value });
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(new RegExp(`^${name} is not valid: it must be [^\n]+$`));
    expect(load).not.toThrow(new RegExp(`${value.replaceAll('*', '\\*')}$`));
    expect(load).not.toThrow(/secret|65536|loud/);
  });

  it.each([
    { PORT: '3002' },
    { PORT: '4000', ADMIN_PORT: '4000', HOST: '::' },
    { PORT: '4000', ADMIN_PORT: '4000', HOST: '127.0.0.1' },
    { PORT: '4000', ADMIN_PORT: '4000', HOST: '10.0.0.1', ADMIN_HOST: '0.0.0.0' },
  ])('the configuration rejects the same port for clients and operators: %j', (env) => {
    const load = (): unknown => loadApiConfig({ ...stores, ...env });
    expect(load).toThrow(ConfigError);
    expect(load).toThrow('PORT and ADMIN_PORT are the same: set another ADMIN_PORT');
  });

  it.each([
    { PORT: '0', ADMIN_PORT: '0' },
    { PORT: '4000', ADMIN_PORT: '4000', HOST: '10.0.0.1', ADMIN_HOST: '10.0.0.2' },
    { PORT: '4000', ADMIN_PORT: '4000', ADMIN_HOST: '::1' },
  ])('the configuration accepts ports for clients and operators that do not collide: %j', (env) => {
    const port = Number(env.PORT);
    expect(loadApiConfig({ ...stores, ...env })).toMatchObject({ port, adminPort: port });
  });

  it.each([
    [true, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector' }],
    [true, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector' }],
    [true, { OTEL_TRACES_EXPORTER: 'console' }],
    [false, { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
    [false, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector', OTEL_SDK_DISABLED: 'true' }],
    [false, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector', OTEL_TRACES_EXPORTER: 'none' }],
  ])('the configuration has tracing: %s with %j', (isOn, variables) => {
    expect(loadApiConfig({ ...stores, ...variables }).tracing).toBe(isOn);
  });

  it.each([
    ['WORKER_PORT', 'secret'],
    ['WORKER_CONCURRENCY', '0'],
  ])('the configuration of a worker rejects %s=%s', (name, value) => {
    const load = (): unknown => loadWorkerConfig({ ...stores, [name]: value });
    expect(load).toThrow(new RegExp(`^${name} is not valid: it must be [^\n]+$`));
    expect(load).not.toThrow(/secret/);
  });

  describe('that is secret', () => {
    const folder = mkdtempSync(join(tmpdir(), 'config-'));
    const file = join(folder, 'token');
    const token = 'a token of more than 32 characters';
    afterAll(() => {
      rmSync(folder, { recursive: true });
    });

    it('a secret setting is read from a file, without the line break at its end', () => {
      writeFileSync(file, `${token}\n`);
      const uriFile = join(folder, 'uri');
      writeFileSync(uriFile, stores.MONGODB_URI);
      const files = { MONGODB_URI_FILE: uriFile, ADMIN_TOKEN_FILE: file };
      expect(loadApiConfig({ REDIS_URL: stores.REDIS_URL, ...files })).toMatchObject({
        mongodbUri: stores.MONGODB_URI,
        adminToken: token,
      });
    });

    it('every secret is found among all settings', () => {
      expect(SECRETS).toEqual(expect.arrayContaining(['MONGODB_URI', 'RATE_LIMIT_REDIS_URL', 'METRICS_TOKEN']));
    });

    it.each(SECRETS)('a secret is the same from a file as from the variable: %s', (name) => {
      const scheme = name === 'MONGODB_URI' ? 'mongodb://' : name.endsWith('REDIS_URL') ? 'redis://' : '';
      const value = `${scheme}${name}-of-more-than-32-characters`;
      writeFileSync(file, value);
      // AUTH_JWT_SECRET and RATE_LIMIT_REDIS_URL are refused without these.
      const auth = { AUTH_JWT_SECRET: token, AUTH_ISSUER: 'issuer', AUTH_AUDIENCE: 'audience' };
      const others = { ...stores, ...auth, RATE_LIMIT_CREATE: '100/60' };
      const config = loadApiConfig({ ...others, [name]: undefined, [`${name}_FILE`]: file });
      expect(config).toEqual(loadApiConfig({ ...others, [name]: value }));
      expect(JSON.stringify(config)).toContain(value);
    });

    it.each([
      ['does not exist', { ADMIN_TOKEN_FILE: join(folder, 'none') }, /^ADMIN_TOKEN_FILE is not valid: .+\(ENOENT\)$/],
      [
        'is set along with the variable',
        { ADMIN_TOKEN: token, ADMIN_TOKEN_FILE: file },
        /^ADMIN_TOKEN and ADMIN_TOKEN_FILE/,
      ],
    ])('a secret setting is rejected if its file %s', (_case, variables, message) => {
      expect(() => loadApiConfig({ ...stores, ...variables })).toThrow(message);
    });
  });

  it('the configuration accepts several origins and several proxies', () => {
    const several = {
      CORS_ORIGINS: 'https://shop.example, http://localhost:5173',
      TRUST_PROXY: 'loopback, 10.0.0.0/8,::1',
    };
    expect(loadApiConfig({ ...stores, ...several })).toMatchObject({
      corsOrigins: ['https://shop.example', 'http://localhost:5173'],
      trustProxy: ['loopback', '10.0.0.0/8', '::1'],
    });
    expect(loadApiConfig({ ...stores, TRUST_PROXY: '2' }).trustProxy).toBe(2);
  });

  it('the configuration removes trailing slashes from PUBLIC_SITE_URL', () => {
    expect(loadApiConfig({ ...stores, PUBLIC_SITE_URL: 'https://shop.example//' }).publicSiteUrl).toBe(
      'https://shop.example',
    );
  });
});
