import { setTimeout as delay } from 'node:timers/promises';
import { Cluster, Redis, type ClusterOptions, type RedisOptions } from 'ioredis';
import { parseRedisUrl } from './redis-url.js';

export type RedisConnection = Redis | Cluster;

/** What a connection is for, which decides how it fails. */
export type RedisRole = 'producer' | 'subscriber' | 'worker';

/** A restarted Redis is used again within half a second; ioredis would wait for up to two. */
const retryStrategy = (attempt: number): number => Math.min(50 * attempt, 500);

/** A connection that owes an answer for longer is destroyed and opened anew. */
const SILENCE_MS = 1500;

/** Connections that rightly wait for an answer for longer are asked for a sign of life. */
const ASK_EVERY_MS = 5000;
const ANSWER_WITHIN_MS = 5000;

const ROLES: Record<RedisRole, RedisOptions> = {
  // A command fails at once while Redis is away, and soon when it does not answer: a client waits for it.
  producer: {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    // Sent again, a command that was run could be answered that it was not.
    autoResendUnfulfilledCommands: false,
    commandTimeout: SILENCE_MS,
    connectTimeout: SILENCE_MS,
    socketTimeout: SILENCE_MS,
  },
  // Its owner subscribes after each reconnect: ioredis would not catch a subscription that fails.
  subscriber: { maxRetriesPerRequest: null, autoResubscribe: false },
  // BullMQ waits for Redis to come back, for as long as it takes.
  worker: { maxRetriesPerRequest: null },
};

/**
 * Opens a connection that reconnects by itself for as long as it takes. `report` gets a line for each error meanwhile.
 *
 * @throws ConfigError when the URL is not valid
 */
export function connectRedis(url: string, role: RedisRole, report: (line: string) => void): RedisConnection {
  const redis = open(url, { disconnectTimeout: 500, keepAlive: 10_000, ...ROLES[role], retryStrategy });
  // A cluster whose other nodes are there reports the loss of one by the second of these only.
  for (const event of ['error', 'node error'] as const) {
    redis.on(event, (error: Error) => {
      report(`Redis is away, trying again: ${reasonOf(error)}`);
    });
  }
  if (role !== 'producer') watchForSilence(redis);
  return redis;
}

/**
 * Connects anew when Redis has gone without a word, as its machine's power does: TCP itself would wait for
 * a quarter of an hour. BullMQ does the same for its blocking connection, which is a copy of this one.
 */
function watchForSilence(redis: RedisConnection): void {
  const ask = async (): Promise<void> => {
    if (redis.status !== 'ready' || (await redisAnswers(redis, ANSWER_WITHIN_MS))) return;
    redis.disconnect(true);
  };
  const asking = setInterval(() => void ask(), ASK_EVERY_MS).unref();
  redis.once('end', () => {
    clearInterval(asking);
  });
}

/** Whether Redis answers within `withinMs`: a stopped one keeps its connections open, only asking tells. */
export async function redisAnswers(redis: RedisConnection, withinMs: number): Promise<boolean> {
  if (redis.status !== 'ready') return false;
  const answered = redis.ping().then(
    () => true,
    () => false,
  );
  return Promise.race([answered, delay(withinMs, false, { ref: false })]);
}

function open(url: string, options: RedisOptions): RedisConnection {
  const address = parseRedisUrl(url);
  const { username, password, tls } = address;
  const secured: RedisOptions = {
    ...options,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
  };
  if (address.kind === 'cluster') {
    return new Cluster(address.nodes, {
      redisOptions: secured,
      clusterRetryStrategy: retryStrategy,
      ...(options.enableOfflineQueue === false ? FAIL_FAST : {}),
    });
  }
  if (address.kind === 'sentinel') {
    const { sentinels, master, db } = address;
    // A former primary that has become a replica answers READONLY: connect anew, to the primary.
    const reconnectOnError = (error: Error): boolean => READONLY.test(error.message);
    return new Redis({
      ...secured,
      sentinels,
      name: master,
      db,
      sentinelRetryStrategy: retryStrategy,
      reconnectOnError,
    });
  }
  const { host, port, db } = address;
  return new Redis({ ...secured, host, port, db });
}

/** A command for a node that is away fails at once. ioredis then learns of a failover by asking for the slots, often. */
const FAIL_FAST: ClusterOptions = {
  enableOfflineQueue: false,
  retryDelayOnFailover: 0,
  retryDelayOnClusterDown: 0,
  slotsRefreshInterval: 1000,
};

/** As Redis says it, or as it wraps, before version 7, what a script is told. */
const READONLY = /(?:^| -)READONLY\b/;

/** What ioredis says once it has been through its list of Sentinels, though they may all be there. */
const NO_PRIMARY = /^All sentinels are unreachable\b.*?(?:Last error: (.*))?$/;

function reasonOf(error: Error): string {
  // A refused connection to a name with several addresses has a code and no message.
  if (error.message === '' && 'code' in error) return String(error.code);
  const [isNoPrimary, ofSentinel] = NO_PRIMARY.exec(error.message) ?? [];
  return isNoPrimary === undefined ? error.message : (ofSentinel ?? 'the Sentinels name no primary that answers');
}
