import { readFileSync } from 'node:fs';
import { z } from 'zod';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** The schema of a setting, and its rule in words. */
interface Setting<Value> {
  schema: z.ZodType<Value>;
  rule: string;
  isSecret?: boolean;
}

function integerSetting(min: number, max: number): Setting<number> {
  const schema = z.string().regex(/^\d+$/).transform(Number).pipe(z.number().min(min).max(max));
  return { schema, rule: `a whole number from ${String(min)} to ${String(max)}` };
}

function integer(fallback: number, min: number, max: number): Setting<number> {
  const { schema, rule } = integerSetting(min, max);
  return { schema: schema.default(fallback), rule };
}

function optional<Value>({ schema, rule }: Setting<Value>): Setting<Value | undefined> {
  return { schema: schema.optional(), rule };
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

/** The largest limit, and the longest window of a limit. Counts stay exact in Redis and JavaScript. */
const MAX_QUOTA = { count: 1_000_000_000_000, seconds: 86_400 };

/** A limit in a window of time. */
export interface Quota {
  /** Requests or bytes. */
  count: number;
  seconds: number;
}

/** A count per seconds, such as `100/60`. */
const QUOTA: Setting<Quota | undefined> = optional({
  schema: z
    .string()
    .regex(/^[1-9]\d*\/[1-9]\d*$/)
    .transform((value) => {
      const [count, seconds] = value.split('/').map(Number) as [number, number];
      return { count, seconds };
    })
    .refine(({ count, seconds }) => count <= MAX_QUOTA.count && seconds <= MAX_QUOTA.seconds),
  rule: `a count per seconds such as 100/60, at most ${String(MAX_QUOTA.count)}/${String(MAX_QUOTA.seconds)}`,
});

/** Elements of one schema, separated by commas. */
function list(element: z.ZodType<string, string>, rule: string): Setting<string[]> {
  const split = z.string().transform((value) => value.split(',').map((part) => part.trim()));
  return { schema: split.pipe(z.array(element)).default([]), rule: `${rule}, separated by commas` };
}

/** An origin as a browser sends it: no path, no trailing slash, no default port. */
const ORIGIN = z.string().refine((value) => {
  return /^https?:[/\w.:[\]-]+$/.test(value) && URL.canParse(value) && new URL(value).origin === value;
});

/** A network. Express rejects one that contains all addresses. */
const NETWORK = z.union([z.cidrv4(), z.cidrv6()]).refine((value) => !value.endsWith('/0'));
/** A proxy that Express accepts in `trust proxy` (https://expressjs.com/en/guide/behind-proxies.html). */
const PROXY = z.union([z.enum(['loopback', 'linklocal', 'uniquelocal']), z.ipv4(), z.ipv6(), NETWORK]);
const proxies = list(PROXY, 'addresses or networks of proxies, not /0, or loopback, linklocal, uniquelocal');

/** Returns a setting that can also be read from a file, whose path is in the variable of the same name with `_FILE`. */
function secret<Value>(setting: Setting<Value>): Setting<Value> {
  return { ...setting, isSecret: true };
}

/** A random string that is too long to guess. */
const SECRET = secret({ schema: z.string().min(32).optional(), rule: 'at least 32 characters' });

/** Not over plain HTTP from other machines: whoever can change the response could sign tokens. */
const JWKS_URL = z.string().refine((value) => {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, username, password } = new URL(value);
  // `fetch` accepts no credentials in a URL, and would name them in its error.
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname));
});

/** A scope-token (https://www.rfc-editor.org/rfc/rfc6749#section-3.3). */
export const SCOPE = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/);

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
  SELLER_BACKLOG_LIMIT: integer(5000, 0, 10_000_000),
  SELLER_BACKLOG_BYTES: integer(134_217_728, 1, 1_099_511_627_776),
  CREATE_WAIT_MS: integer(10_000, 100, 120_000),
  MAX_BODY_BYTES: integer(1_048_576, 1024, 2_097_152),
  MAX_ITEM_BYTES: integer(65_536, 1024, 1_048_576),
  MAX_CONNECTIONS: integer(10_000, 1, 1_000_000),
  KEEP_ALIVE_MS: integer(75_000, 1000, 3_600_000),
  FAST_LANE: { schema: z.enum(['on', 'off']).default('on'), rule: 'on or off' },
  DOCS: { schema: z.enum(['public', 'admin', 'off']).default('public'), rule: 'public, admin or off' },
  CORS_ORIGINS: list(ORIGIN, 'origins such as https://shop.example'),
  TRUST_PROXY: {
    schema: z.union([z.stringFormat('hops', /^\d$/).transform(Number), proxies.schema]),
    rule: `0 to 9 proxies in a row, or ${proxies.rule}`,
  },
  AUTH_JWKS_URL: {
    schema: JWKS_URL.optional(),
    rule: 'a URL without user and password that begins with https://, or with http:// and a loopback address',
  },
  AUTH_JWT_SECRET: SECRET,
  AUTH_ISSUER: { schema: z.string().optional(), rule: 'the issuer of the tokens' },
  AUTH_AUDIENCE: { schema: z.string().optional(), rule: 'the audience of the tokens' },
  AUTH_TOKEN_TYPE: { schema: z.string().default('at+jwt'), rule: 'a value of the `typ` header of tokens' },
  AUTH_CREATE_SCOPE: { schema: SCOPE.default('items:create'), rule: 'a scope without spaces' },
  AUTH_API_KEYS: { schema: z.enum(['on', 'off']).default('off'), rule: 'on or off' },
  AUTH_READS: { schema: z.enum(['open', 'required']).default('open'), rule: 'open or required' },
  RATE_LIMIT_CREATE: QUOTA,
  RATE_LIMIT_GETALL: QUOTA,
  RATE_LIMIT_GETBYID: QUOTA,
  RATE_LIMIT_BYTES: QUOTA,
  RATE_LIMIT_CONCURRENT: optional(integerSetting(1, 1_000_000)),
  RATE_LIMIT_REDIS_URL: secret(optional(url(REDIS_SCHEMES))),
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

/** Returns the value of a setting, or its default. @throws ConfigError if it is missing or breaks its rule */
export function read<Name extends keyof Settings>(env: NodeJS.ProcessEnv, name: Name): Settings[Name] {
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
export function variable(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name];
}
