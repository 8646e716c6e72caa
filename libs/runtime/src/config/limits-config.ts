import { ConfigError, read, type Quota } from './settings.js';

/** How much each caller may send. Undefined means that there is no such limit. */
export interface LimitsConfig {
  create: Quota | undefined;
  getAll: Quota | undefined;
  getById: Quota | undefined;
  /** Bytes of bodies, for each operation. */
  bytes: Quota | undefined;
  /** Requests at the same time, for each operation. */
  concurrent: number | undefined;
  /** The Redis that counts. */
  redisUrl: string;
}

/** Reads the settings of rate limits. Returns undefined if there are none. @throws ConfigError */
export function loadLimitsConfig(env: NodeJS.ProcessEnv): LimitsConfig | undefined {
  const limits = {
    create: read(env, 'RATE_LIMIT_CREATE'),
    getAll: read(env, 'RATE_LIMIT_GETALL'),
    getById: read(env, 'RATE_LIMIT_GETBYID'),
    bytes: read(env, 'RATE_LIMIT_BYTES'),
    concurrent: read(env, 'RATE_LIMIT_CONCURRENT'),
  };
  const redisUrl = read(env, 'RATE_LIMIT_REDIS_URL');
  if (Object.values(limits).every((limit) => limit === undefined)) {
    if (redisUrl === undefined) return undefined;
    throw new ConfigError('RATE_LIMIT_REDIS_URL is set, but no limit is: set RATE_LIMIT_CREATE, for example');
  }
  // Otherwise, a body that is not too large could never be sent.
  if (limits.bytes !== undefined && limits.bytes.count < read(env, 'MAX_BODY_BYTES'))
    throw new ConfigError('RATE_LIMIT_BYTES is not valid: its count must be at least MAX_BODY_BYTES');
  return { ...limits, redisUrl: redisUrl ?? read(env, 'REDIS_URL') };
}
