import { readFileSync } from 'node:fs';
import { z } from 'zod';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** The schema of a setting, and its rule in words. */
interface Setting<Value> {
  schema: z.ZodType<Value>;
  rule: string;
  isSecret?: boolean;
}

function integer(fallback: number, min: number, max: number): Setting<number> {
  const schema = z.string().regex(/^\d+$/).transform(Number).pipe(z.number().min(min).max(max)).default(fallback);
  return { schema, rule: `a whole number from ${String(min)} to ${String(max)}` };
}

function url(schemes: readonly string[], fallback?: string): Setting<string> {
  const begins = schemes.map((scheme) => `${scheme}://`);
  const schema = z
    .string()
    .refine((value) => begins.some((begin) => value.startsWith(begin) && value.length > begin.length));
  return {
    schema: fallback === undefined ? schema : schema.default(fallback),
    rule: `a URL that begins with ${begins.join(' or ')}`,
  };
}

/** Elements of one schema, separated by commas. */
function list(element: z.ZodType<string, string>, rule: string): Setting<string[]> {
  const split = z.string().transform((value) => value.split(',').map((part) => part.trim()));
  return { schema: split.pipe(z.array(element)).default([]), rule: `${rule}, separated by commas` };
}

/** An origin as a browser sends it: no path, no trailing slash, no default port. */
const ORIGIN = z.string().refine((value) => {
  return /^https?:[/\w.:[\]-]+$/.test(value) && URL.canParse(value) && new URL(value).origin === value;
});

/** A proxy that Express accepts in `trust proxy` (https://expressjs.com/en/guide/behind-proxies.html). */
const PROXY = z.union([z.enum(['loopback', 'linklocal', 'uniquelocal']), z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);
const proxies = list(PROXY, 'addresses or networks of proxies, or loopback, linklocal, uniquelocal');

/** A setting that can also be read from a file, whose path is in the variable of the same name with `_FILE`. */
function secret<Value>(setting: Setting<Value>): Setting<Value> {
  return { ...setting, isSecret: true };
}

/** A random string that is too long to guess. */
const SECRET = secret({ schema: z.string().min(32).optional(), rule: 'at least 32 characters' });

const REDIS_SCHEMES = ['redis', 'rediss', 'redis+sentinel', 'rediss+sentinel', 'redis+cluster', 'rediss+cluster'];

/** All settings, with their rules and defaults. */
const settings = {
  MONGODB_URI: secret(url(['mongodb', 'mongodb+srv'])),
  REDIS_URL: secret(url(REDIS_SCHEMES)),
  PORT: integer(3000, 0, 65_535),
  HOST: { schema: z.string().default('0.0.0.0'), rule: 'an address to listen on' },
  WORKER_PORT: integer(3001, 0, 65_535),
  WORKER_CONCURRENCY: integer(128, 1, 1000),
  BACKLOG_LIMIT: integer(10_000, 1, 10_000_000),
  BACKLOG_BYTES: integer(268_435_456, 1, 1_099_511_627_776),
  CREATE_WAIT_MS: integer(10_000, 100, 120_000),
  MAX_BODY_BYTES: integer(1_048_576, 1024, 2_097_152),
  MAX_ITEM_BYTES: integer(65_536, 1024, 1_048_576),
  MAX_CONNECTIONS: integer(10_000, 1, 1_000_000),
  KEEP_ALIVE_MS: integer(75_000, 1000, 3_600_000),
  FAST_LANE: { schema: z.enum(['on', 'off']).default('on'), rule: 'on or off' },
  CORS_ORIGINS: list(ORIGIN, 'origins such as https://shop.example'),
  TRUST_PROXY: {
    schema: z.union([z.stringFormat('hops', /^\d$/).transform(Number), proxies.schema]),
    rule: `0 to 9 proxies in a row, or ${proxies.rule}`,
  },
  IDEMPOTENCY_SECRET: SECRET,
  ADMIN_PORT: integer(3002, 0, 65_535),
  ADMIN_HOST: { schema: z.string().default('127.0.0.1'), rule: 'an address to listen on' },
  ADMIN_TOKEN: SECRET,
  METRICS_TOKEN: SECRET,
  PUBLIC_SITE_URL: url(['http', 'https'], 'http://localhost:3000'),
  QUEUE_PREFIX: {
    schema: z
      .string()
      .regex(/^[\w.-]{1,64}$/)
      .default('item-listing'),
    rule: '1 to 64 letters, digits, dots, dashes or underscores',
  },
  VALIDATE_WRITES: { schema: z.enum(['on', 'off']).default('on'), rule: 'on or off' },
  DEMO_CATALOGUE: { schema: z.enum(['on', 'off']).optional(), rule: 'on or off' },
  LOG_ACCESS: { schema: z.enum(['on', 'off']).default('off'), rule: 'on or off' },
  LOG_LEVEL: { schema: z.enum(LOG_LEVELS).default('info'), rule: `one of ${LOG_LEVELS.join(', ')}` },
} satisfies Record<string, Setting<unknown>>;

type Settings = { [Name in keyof typeof settings]: z.infer<(typeof settings)[Name]['schema']> };

/**
 * Thrown if a setting is missing or breaks its rule. The message names the setting and the rule, but not the value,
 * which may contain a password.
 */
export class ConfigError extends Error {}

/** The settings of both processes. */
interface CommonConfig {
  mongodbUri: string;
  redisUrl: string;
  host: string;
  /** 0 means any free port. */
  port: number;
  queuePrefix: string;
  logLevel: string;
  /** Whether the process records and exports traces. OpenTelemetry reads its other settings itself. */
  tracing: boolean;
  /** Whether a setting of OpenTelemetry says which requests are traced. */
  isTraceSamplerSet: boolean;
}

/** What protects the operators' endpoints of a process. Undefined means no token. */
export interface AdminTokens {
  /** Required for the queue dashboard. */
  adminToken: string | undefined;
  /** Required for metrics. */
  metricsToken: string | undefined;
}

export interface ApiConfig extends CommonConfig, AdminTokens {
  adminHost: string;
  /** 0 means any free port. */
  adminPort: number;
  createWaitMs: number;
  /** Numbers of waiting jobs, and of bytes of their data, beyond which creates are refused. */
  backlog: { jobs: number; bytes: number };
  maxBodyBytes: number;
  /** Limit on the validated input of a create, as JSON. */
  maxItemBytes: number;
  maxConnections: number;
  /** Idle time after which a connection is closed. */
  keepAliveMs: number;
  /** Whether requests for fixed paths bypass Express. */
  fastLane: boolean;
  /** Whether to log each request. */
  logAccess: boolean;
  /** Origins whose pages may call the API. Empty turns CORS off. */
  corsOrigins: string[];
  /** Proxies whose `X-Forwarded-For` is trusted: a number of hops, or networks. Empty means none. */
  trustProxy: number | string[];
  /** The secret that derives item ids from Idempotency-Keys. Undefined means the one in the database. */
  idempotencySecret: string | undefined;
  /** Without a trailing slash. */
  publicSiteUrl: string;
}

export interface WorkerConfig extends CommonConfig, AdminTokens {
  /** How many jobs are processed at a time. */
  concurrency: number;
}

export interface CliConfig {
  mongodbUri: string;
  /** Whether MongoDB validates the fields of items on each write. */
  validateWrites: boolean;
  maxItemBytes: number;
  isProduction: boolean;
  /** Whether to load the demo catalogue. Undefined if not set. */
  demoCatalogue: 'on' | 'off' | undefined;
}

/** The queue that the API and the workers use. */
export type QueueConfig = Pick<CommonConfig, 'redisUrl' | 'queuePrefix'>;

/** Reads the settings of the API process. @throws ConfigError */
export function loadApiConfig(env = process.env): ApiConfig {
  return {
    ...common(env),
    ...adminTokens(env),
    adminHost: read(env, 'ADMIN_HOST'),
    adminPort: read(env, 'ADMIN_PORT'),
    port: read(env, 'PORT'),
    createWaitMs: read(env, 'CREATE_WAIT_MS'),
    backlog: { jobs: read(env, 'BACKLOG_LIMIT'), bytes: read(env, 'BACKLOG_BYTES') },
    maxBodyBytes: read(env, 'MAX_BODY_BYTES'),
    maxItemBytes: read(env, 'MAX_ITEM_BYTES'),
    maxConnections: read(env, 'MAX_CONNECTIONS'),
    keepAliveMs: read(env, 'KEEP_ALIVE_MS'),
    fastLane: read(env, 'FAST_LANE') === 'on',
    logAccess: read(env, 'LOG_ACCESS') === 'on',
    corsOrigins: read(env, 'CORS_ORIGINS'),
    trustProxy: read(env, 'TRUST_PROXY'),
    idempotencySecret: read(env, 'IDEMPOTENCY_SECRET'),
    publicSiteUrl: read(env, 'PUBLIC_SITE_URL').replace(/\/+$/, ''),
  };
}

/** Reads the settings of the worker process. @throws ConfigError */
export function loadWorkerConfig(env = process.env): WorkerConfig {
  return {
    ...common(env),
    ...adminTokens(env),
    port: read(env, 'WORKER_PORT'),
    concurrency: read(env, 'WORKER_CONCURRENCY'),
  };
}

/** Reads the settings of the CLI commands. @throws ConfigError */
export function loadCliConfig(env = process.env): CliConfig {
  return {
    mongodbUri: read(env, 'MONGODB_URI'),
    maxItemBytes: read(env, 'MAX_ITEM_BYTES'),
    validateWrites: read(env, 'VALIDATE_WRITES') === 'on',
    isProduction: env['NODE_ENV'] === 'production',
    demoCatalogue: read(env, 'DEMO_CATALOGUE'),
  };
}

/** Reads the settings of commands that need Redis only. @throws ConfigError */
export function loadQueueConfig(env = process.env): QueueConfig {
  return { redisUrl: read(env, 'REDIS_URL'), queuePrefix: read(env, 'QUEUE_PREFIX') };
}

function common(env: NodeJS.ProcessEnv): Omit<CommonConfig, 'port'> {
  return {
    ...loadQueueConfig(env),
    mongodbUri: read(env, 'MONGODB_URI'),
    host: read(env, 'HOST'),
    logLevel: read(env, 'LOG_LEVEL'),
    tracing: isTracingOn(env),
    isTraceSamplerSet: variable(env, 'OTEL_TRACES_SAMPLER') !== undefined,
  };
}

/** Tracing is on once OpenTelemetry has an exporter, unless its own variables turn it off. */
function isTracingOn(env: NodeJS.ProcessEnv): boolean {
  const exporter = variable(env, 'OTEL_TRACES_EXPORTER');
  const endpoint = variable(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? variable(env, 'OTEL_EXPORTER_OTLP_ENDPOINT');
  if (variable(env, 'OTEL_SDK_DISABLED') === 'true' || exporter === 'none') return false;
  return exporter !== undefined || endpoint !== undefined;
}

function adminTokens(env: NodeJS.ProcessEnv): AdminTokens {
  return { adminToken: read(env, 'ADMIN_TOKEN'), metricsToken: read(env, 'METRICS_TOKEN') };
}

function read<Name extends keyof Settings>(env: NodeJS.ProcessEnv, name: Name): Settings[Name] {
  const { schema, rule, isSecret }: Setting<unknown> = settings[name];
  const value = isSecret ? secretOf(env, name) : variable(env, name);
  const result = schema.safeParse(value);
  if (result.success) return result.data as Settings[Name];
  throw new ConfigError(`${name} ${value === undefined ? 'is missing' : 'is not valid'}: it must be ${rule}`);
}

/** Returns the value of a variable, or the content of the file in the variable with `_FILE`, without its line break. */
function secretOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = variable(env, name);
  const file = variable(env, `${name}_FILE`);
  if (file === undefined) return value;
  if (value !== undefined) throw new ConfigError(`${name} and ${name}_FILE are both set: set one of them`);
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new ConfigError(`${name}_FILE is not valid: it must be the path of a readable file (${code})`);
  }
}

/** An empty variable counts as missing, because Compose passes an unset variable as an empty one. */
function variable(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name];
}
