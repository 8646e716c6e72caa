import { loadAuthConfig, type AuthConfig } from './auth-config.js';
import { loadLimitsConfig, type LimitsConfig } from './limits-config.js';
import { ConfigError, read, variable } from './settings.js';

export { ConfigError } from './settings.js';

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
}

/** What protects the operators' endpoints of a process. Undefined means no token. */
export interface AdminTokens {
  /** Required for the queue dashboard. */
  adminToken: string | undefined;
  /** Required for metrics. */
  metricsToken: string | undefined;
}

/** Limits on what waits in the queue. */
export interface BacklogConfig {
  jobs: number;
  bytes: number;
}

export interface ApiConfig extends CommonConfig, AdminTokens {
  adminHost: string;
  /** 0 means any free port. */
  adminPort: number;
  createWaitMs: number;
  /** Numbers of waiting jobs, and of bytes of their data, beyond which creates are refused. */
  backlog: BacklogConfig;
  /** The same for the jobs of each seller. Undefined if sellers are not known, or not limited. */
  sellerBacklog: BacklogConfig | undefined;
  maxBodyBytes: number;
  /** Limit on the validated input of a create, as JSON. */
  maxItemBytes: number;
  maxConnections: number;
  /** Idle time after which a connection is closed. */
  keepAliveMs: number;
  /** Undefined means that anyone may call the operations. */
  auth: AuthConfig | undefined;
  /** Undefined means that callers may send any number of requests. */
  limits: LimitsConfig | undefined;
  /** Whether requests for fixed paths bypass Express. */
  fastLane: boolean;
  /** Whether to log each request. */
  logAccess: boolean;
  /** Whether a setting of OpenTelemetry says which requests are traced. */
  isTraceSamplerSet: boolean;
  /** Which port serves the OpenAPI document and its page. */
  docs: 'public' | 'admin' | 'off';
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
  /** The scope that creates require. */
  createScope: string;
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
  const sellerBacklog = loadSellerBacklog(env);
  const auth = loadAuthConfig(env);
  return {
    ...common(env),
    ...adminTokens(env),
    ...loadApiPorts(env),
    adminHost: read(env, 'ADMIN_HOST'),
    createWaitMs: read(env, 'CREATE_WAIT_MS'),
    backlog: { jobs: read(env, 'BACKLOG_LIMIT'), bytes: read(env, 'BACKLOG_BYTES') },
    sellerBacklog: auth && sellerBacklog,
    maxBodyBytes: read(env, 'MAX_BODY_BYTES'),
    maxItemBytes: read(env, 'MAX_ITEM_BYTES'),
    maxConnections: read(env, 'MAX_CONNECTIONS'),
    keepAliveMs: read(env, 'KEEP_ALIVE_MS'),
    auth,
    limits: loadLimitsConfig(env),
    fastLane: read(env, 'FAST_LANE') === 'on',
    logAccess: read(env, 'LOG_ACCESS') === 'on',
    isTraceSamplerSet: variable(env, 'OTEL_TRACES_SAMPLER') !== undefined,
    docs: read(env, 'DOCS'),
    corsOrigins: read(env, 'CORS_ORIGINS'),
    trustProxy: read(env, 'TRUST_PROXY'),
    idempotencySecret: read(env, 'IDEMPOTENCY_SECRET'),
    publicSiteUrl: read(env, 'PUBLIC_SITE_URL').replace(/\/+$/, ''),
  };
}

function loadApiPorts(env: NodeJS.ProcessEnv): { port: number; adminPort: number } {
  const [port, adminPort] = [read(env, 'PORT'), read(env, 'ADMIN_PORT')];
  const hosts = [read(env, 'HOST'), read(env, 'ADMIN_HOST')];
  // Two addresses of this machine may have the same port, unless one stands for all of them, or for all of IPv4.
  const areBothIpv4 = !hosts.some((host) => host.includes(':'));
  const isOneAddress = hosts[0] === hosts[1] || hosts.includes('::') || (hosts.includes('0.0.0.0') && areBothIpv4);
  if (port !== 0 && port === adminPort && isOneAddress)
    throw new ConfigError('PORT and ADMIN_PORT are the same: set another ADMIN_PORT');
  return { port, adminPort };
}

function loadSellerBacklog(env: NodeJS.ProcessEnv): BacklogConfig | undefined {
  const [jobs, bytes] = [read(env, 'SELLER_BACKLOG_LIMIT'), read(env, 'SELLER_BACKLOG_BYTES')];
  return jobs === 0 ? undefined : { jobs, bytes };
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
    createScope: read(env, 'AUTH_CREATE_SCOPE'),
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
