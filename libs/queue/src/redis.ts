import { settledWithin } from '@app/runtime';
import { Cluster, Redis, ReplyError, type ClusterOptions, type RedisOptions } from 'ioredis';
import { parseRedisUrl } from './redis-url.js';

export type RedisConnection = Redis | Cluster;

/** The purpose of a connection, which determines how it fails. */
export type RedisRole = 'producer' | 'limiter' | 'subscriber' | 'worker';

/** Resolves once a connection can send commands. */
export async function untilReady(redis: RedisConnection): Promise<void> {
  if (redis.status === 'ready') return;
  await new Promise((resolve) => redis.once('ready', resolve));
}

/** Writes a line to a log. */
export type Report = (line: string) => void;

/** Reconnects to a restarted Redis within half a second. ioredis itself would wait for up to two seconds. */
const retryStrategy = (attempt: number): number => Math.min(50 * attempt, 500);

/** A connection that waits longer for a reply is destroyed and reopened. */
const REPLY_TIMEOUT_MS = 1500;

/** A rate limit waits less for a reply, because reads can do without it. */
const LIMITER_TIMEOUT_MS = 500;

/** Interval and time limit of the checks of {@link reconnectIfUnresponsive}. */
const CHECK_MS = 5000;

/** A client waits for the command, so it fails at once while Redis is unavailable, and soon if Redis does not reply. */
const FAIL_FAST: RedisOptions = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  // A resent command can fail although its first copy was run, and would then wrongly count as not run.
  autoResendUnfulfilledCommands: false,
  commandTimeout: REPLY_TIMEOUT_MS,
  connectTimeout: REPLY_TIMEOUT_MS,
  socketTimeout: REPLY_TIMEOUT_MS,
};

const ROLES: Record<RedisRole, RedisOptions> = {
  producer: FAIL_FAST,
  limiter: { ...FAIL_FAST, commandTimeout: LIMITER_TIMEOUT_MS },
  // The owner subscribes again after each reconnect, because ioredis does not handle a resubscription that fails.
  subscriber: { maxRetriesPerRequest: null, autoResubscribe: false },
  // BullMQ waits until Redis is back, however long that takes.
  worker: { maxRetriesPerRequest: null },
};

/**
 * Opens a connection that reconnects automatically, without limit. Calls `report` with a line for each error.
 *
 * @throws ConfigError if the URL is not valid
 */
export function connectRedis(url: string, role: RedisRole, report: Report): RedisConnection {
  const redis = open(url, { disconnectTimeout: 500, keepAlive: 10_000, ...ROLES[role], retryStrategy });
  // A Cluster that loses only some of its nodes emits only `node error`.
  for (const event of ['error', 'node error'] as const) {
    redis.on(event, (error: Error) => {
      report(`Redis is unavailable, trying again: ${reasonOf(error)}`);
    });
  }
  return redis;
}

/**
 * Reconnects if Redis disappears without closing the connection, for example because of a power failure. TCP itself
 * would wait for about 15 minutes. For connections that may legitimately wait long for a reply. BullMQ does the same for
 * its blocking connection, which is a copy of this one, once a blocking command has been sent.
 *
 * @param probe sends a command to the server that matters: PING goes to any server of a Cluster
 * @returns the timer of the checks, which the caller stops
 */
export function reconnectIfUnresponsive(redis: RedisConnection, probe: () => Promise<unknown>): NodeJS.Timeout {
  let wasConnecting = false;
  const check = async (): Promise<void> => {
    // Connected, but the server does not reply to the first commands, for which ioredis has no time limit.
    const isConnecting = redis.status === 'connect';
    const isStuck = isConnecting && wasConnecting;
    wasConnecting = isConnecting;
    if (isStuck || (redis.status === 'ready' && !(await repliesWithin(CHECK_MS, probe())))) redis.disconnect(true);
  };
  return setInterval(() => void check(), CHECK_MS).unref();
}

/** Returns whether a command gets a reply in time. An error, such as that the user may not run it, is a reply. */
async function repliesWithin(ms: number, command: Promise<unknown>): Promise<boolean> {
  const replied = command.then(
    () => true,
    () => true,
  );
  return (await settledWithin(ms, replied)) === true;
}

/**
 * Returns whether a command succeeds within `withinMs`. A connection to a stopped process stays `ready`.
 *
 * @param send the default is PING, which any server of a Cluster may reply to
 */
export async function redisResponds(
  redis: RedisConnection,
  withinMs: number,
  send: () => Promise<unknown> = () => redis.ping(),
): Promise<boolean> {
  return redis.status === 'ready' && (await settledWithin(withinMs, send())) !== undefined;
}

function open(url: string, options: RedisOptions): RedisConnection {
  const address = parseRedisUrl(url);
  const secured: RedisOptions = { ...options, ...address.credentials, ...(address.tls ? { tls: {} } : {}) };
  if (address.kind === 'cluster') {
    return new Cluster(address.nodes, {
      redisOptions: secured,
      clusterRetryStrategy: retryStrategy,
      // By default, ioredis connects to the address of a node, which its certificate may not have.
      ...(address.tls
        ? {
            dnsLookup: (name, done) => {
              done(null, name);
            },
          }
        : {}),
      ...(options.enableOfflineQueue === false ? FAIL_FAST_CLUSTER : {}),
    });
  }
  // A former primary that has become a replica replies READONLY. Reconnect, to find the new primary. The address of a
  // single server may belong to another one by now, as with the service of a managed Redis.
  const reconnectOnError = (error: Error): boolean => READONLY.test(error.message);
  if (address.kind === 'sentinel') {
    const { sentinels, sentinelCredentials, master, db } = address;
    return new Redis({
      ...secured,
      sentinels,
      sentinelUsername: sentinelCredentials.username,
      sentinelPassword: sentinelCredentials.password,
      // Without both, ioredis would send the passwords in plain text.
      ...(address.tls ? { sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
      name: master,
      db,
      sentinelRetryStrategy: retryStrategy,
      // Otherwise, a Sentinel that accepts the connection but does not reply would keep the others from being asked.
      sentinelCommandTimeout: REPLY_TIMEOUT_MS,
      reconnectOnError,
    });
  }
  const { host, port, db } = address;
  return new Redis({ ...secured, host, port, db, reconnectOnError });
}

/** Commands for an unavailable node fail immediately. ioredis notices a failover by refreshing the slots frequently. */
const FAIL_FAST_CLUSTER: ClusterOptions = {
  enableOfflineQueue: false,
  retryDelayOnFailover: 0,
  retryDelayOnClusterDown: 0,
  slotsRefreshInterval: 1000,
};

/** Waits for a reply. Reports an error reply, such as that the user may not run the command, and throws it. */
export async function reportRefusal<Reply>(replying: Promise<Reply>, report: Report): Promise<Reply> {
  try {
    return await replying;
  } catch (error) {
    // The connection reports other errors itself.
    if (error instanceof Error && error instanceof ReplyError) report(`Redis refuses a command: ${error.message}`);
    throw error;
  }
}

/** Returns whether a command cannot work with the value of its key, because another program has written it. */
export function isWrongValue(error: unknown): boolean {
  return error instanceof Error && error instanceof ReplyError && /\bWRONGTYPE\b|not an integer/.test(error.message);
}

/** The error reply to a command, or to a command in a script, which Redis wraps before version 7. */
const READONLY = /(?:^| -)READONLY\b/;

/** The error of ioredis after it has tried all Sentinels, even if all of them are reachable. */
const NO_PRIMARY = /^All sentinels are unreachable\b.*?(?:Last error: (.*))?$/;

function reasonOf(error: Error): string {
  // A refused connection to a host name with several addresses has a code but no message.
  if (error.message === '' && 'code' in error) return String(error.code);
  const [isNoPrimary, lastError] = NO_PRIMARY.exec(error.message) ?? [];
  const reason =
    isNoPrimary === undefined ? error.message : (lastError ?? 'the Sentinels name no primary that responds');
  // OpenSSL ends its lines.
  return reason.trimEnd();
}
