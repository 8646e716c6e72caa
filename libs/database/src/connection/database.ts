import { setTimeout as delay } from 'node:timers/promises';
import {
  ConfigError,
  EXPIRED,
  Limiter,
  settledWithin,
  throttle,
  TimeoutError,
  withDeadline,
  withTimeout,
} from '@app/runtime';
import mongoose, { mongo, type Connection, type ConnectOptions } from 'mongoose';
import {
  isDatabaseUnavailable,
  isNotAllowed,
  isReadRetryable,
  isReplicaSetMissing,
  reasonOf,
} from './database-errors.js';
import { findFirstItems, findItems, type FirstItems, type ItemQuery } from './find-items.js';
import { createModels, type Models } from '../models.js';
import { unexpectedArraysIn } from './multikey-index.js';
import { limitsUntil, readUntil, type QueryLimits } from './query-limits.js';
import type { RawItem } from '../serialization/item-json.js';

export interface DatabaseOptions {
  uri: string;
  /** How long an operation looks for a server, and then waits for a connection to it, before it fails. */
  serverSelectionMs: number;
  /** How long the server may take to respond before the connection is closed. */
  socketMs: number;
  /** The time limit for a read as a whole, see {@link Database.read}. Unlimited if absent. */
  readMs?: number;
}

/** How many writes to a collection a server has done since it started. */
interface ServerWrites {
  host: string;
  latencyStats: { writes: { ops: mongo.Long | number } };
}

/** What is wrong if the servers of a replica set run, but the set was never initiated. */
export const NO_REPLICA_SET = 'no replica set yet: `npm run setup -- --init-replica-set SET/HOST:PORT` initiates it';

const RETRY_MS = 500;
const CLOSE_WITHIN_MS = 500;

/** How many reads run at a time: not more than the driver has connections, so that no read waits for one. */
const READS_AT_ONCE = 64;

/**
 * Checks the form of a `MONGODB_URI`.
 *
 * @throws ConfigError whose message omits the URI, because that may contain a password
 */
export function checkMongodbUri(uri: string): void {
  try {
    // Parses the URI without connecting.
    new mongo.MongoClient(uri);
  } catch {
    throw new ConfigError(
      'MONGODB_URI is not valid: it must be mongodb[+srv]://[user:password@]host[:port][,…][/database][?options]',
    );
  }
  if (/[?&]maxStalenessSeconds=/i.test(uri))
    throw new ConfigError('MONGODB_URI must not have maxStalenessSeconds: items are read from the primary');
}

/** A connection to MongoDB, and its collections. */
export class Database {
  readonly connection: Connection;
  readonly models: Models;
  private reads = new Limiter(READS_AT_ONCE);
  /** The items as the driver sees them. Undefined until MongoDB has responded. */
  private items: mongo.Collection | undefined;
  private replicaSetMissing = false;
  private readonly closing = new AbortController();

  constructor(private readonly options: DatabaseOptions) {
    this.connection = mongoose.createConnection();
    // Makes operations before the first connect fail at once, instead of waiting for it forever.
    this.connection.set('bufferCommands', false);
    this.models = createModels(this.connection);
    // Operations report their own errors. Without a listener, the process would crash.
    this.connection.on('error', () => undefined);
  }

  /**
   * Keeps trying to connect until MongoDB responds and the user has a role, or the database is closed. Calls `report`
   * with a line every few seconds. Each attempt uses a new client, because a client whose first connection failed
   * cannot be reused.
   */
  async connect(report: (line: string) => void): Promise<void> {
    const reportRarely = throttle(report);
    while (!this.isClosing()) {
      try {
        await this.connection.openUri(this.options.uri, this.connectOptions());
        await this.checkRole();
        const { maxPoolSize } = this.connection.getClient().options;
        // In the driver, 0 means that the number of connections is not limited.
        this.reads = new Limiter(Math.min(READS_AT_ONCE, maxPoolSize || READS_AT_ONCE));
        this.items = this.connection.db?.collection(this.models.items.collection.collectionName);
        this.replicaSetMissing = false;
        return;
      } catch (error) {
        // An attempt that `close` has interrupted says nothing about MongoDB.
        if (this.isClosing()) return;
        this.replicaSetMissing = isReplicaSetMissing(error);
        reportRarely(
          this.replicaSetMissing
            ? `MongoDB has ${NO_REPLICA_SET}`
            : `MongoDB is unavailable, trying again: ${reasonOf(error)}`,
        );
        await delay(RETRY_MS, undefined, { signal: this.closing.signal }).catch(() => undefined);
      }
    }
  }

  /** Whether MongoDB has responded at least once. */
  get hasResponded(): boolean {
    return this.items !== undefined;
  }

  /** Whether MongoDB could not be connected to because its replica set was never initiated. */
  get isReplicaSetMissing(): boolean {
    return this.replicaSetMissing;
  }

  /** Returns whether MongoDB responds within `withinMs`. */
  async responds(withinMs: number): Promise<boolean> {
    const response = this.items && (await settledWithin(withinMs, this.items.db.command({ ping: 1 })));
    return response !== undefined;
  }

  /**
   * Limits a read to `readMs`. The limits of the driver are not enough: they add up over retries and while a server is
   * unresponsive.
   *
   * @throws TimeoutError after that time
   */
  async read<T>(operation: PromiseLike<T>): Promise<T> {
    const { readMs } = this.options;
    return readMs === undefined ? operation : withTimeout(readMs, operation);
  }

  /**
   * Returns everything that a query of the driver finds. Hands no query to the driver after the deadline. MongoDB aborts
   * a running one shortly before the deadline, or later by the time that the driver waited for a primary or a connection.
   * A query that fails because the connection broke or the server is no longer primary is sent once more.
   *
   * @param deadline in ms of `performance.now()`
   * @param query receives the limits that it must pass to the driver
   * @throws TimeoutError, or the server error with code 50; `isDatabaseUnavailable` returns true for both
   */
  async readAll<T>(deadline: number, query: (limits: QueryLimits) => mongo.AbstractCursor<T>): Promise<T[]> {
    return this.readBy(deadline, () => readUntil(deadline, query));
  }

  /**
   * Returns all items that a query finds, as BSON. Otherwise the same as `readAll`.
   *
   * @throws ItemsTooLarge if they have more than `maxBytes` and do not fit in one batch
   */
  async findItems(query: ItemQuery, deadline: number, maxBytes = Infinity): Promise<RawItem[]> {
    return this.readBy(deadline, (items) => findItems(items, query, deadline, maxBytes));
  }

  /** Returns the first items that a query finds, as BSON: all, or at most 16 MB. Otherwise the same as `readAll`. */
  async findFirstItems(query: ItemQuery, deadline: number): Promise<FirstItems> {
    return this.readBy(deadline, (items) => findFirstItems(items, query, deadline));
  }

  /**
   * Returns a text that differs after a write to the items, or undefined if MongoDB does not tell: the number of writes
   * that a server has done (https://www.mongodb.com/docs/manual/reference/operator/aggregation/collStats/). It counts
   * neither `$merge`, nor that a transaction is committed.
   *
   * @param deadline in ms of `performance.now()`
   * @throws TimeoutError at the deadline
   */
  async writeState(deadline: number): Promise<string | undefined> {
    const stages = [{ $collStats: { latencyStats: {} } }];
    const { collection } = this.models.items;
    try {
      const servers = await this.readAll(deadline, (limits) => collection.aggregate<ServerWrites>(stages, limits));
      return servers.map(({ host, latencyStats }) => `${host} ${String(latencyStats.writes.ops)}`).join();
    } catch (error) {
      // Some hosts of MongoDB refuse this stage.
      if (isDatabaseUnavailable(error)) throw error;
      return undefined;
    }
  }

  /** Returns the fields of the index that a query uses in which documents unexpectedly have or had arrays. */
  async unexpectedArrays(query: Pick<ItemQuery, 'filter' | 'hint'>, deadline: number): Promise<string[]> {
    const plan = await this.readBy(deadline, ({ db, collectionName }) => {
      const explain = { find: collectionName, ...query };
      return db.command({ explain, verbosity: 'queryPlanner', ...limitsUntil(deadline) });
    });
    return unexpectedArraysIn(plan);
  }

  private async readBy<T>(deadline: number, read: (items: mongo.Collection) => Promise<T>): Promise<T> {
    const { items } = this;
    if (items === undefined) throw new TimeoutError(this.replicaSetMissing ? NO_REPLICA_SET : 'not connected');
    const readWithRetry = (): Promise<T> =>
      read(items).catch((error: unknown) => {
        if (!isReadRetryable(error)) throw error;
        return read(items);
      });
    const found = await withDeadline(deadline, this.reads.run(readWithRetry, { deadline }));
    if (found === EXPIRED) throw new TimeoutError('not read in time');
    return found;
  }

  /** Stops connecting, or closes the connection. Does not wait long for an unresponsive server. */
  async close(): Promise<void> {
    this.closing.abort();
    await settledWithin(CLOSE_WITHIN_MS, this.connection.close());
  }

  private isClosing(): boolean {
    return this.closing.signal.aborted;
  }

  /** Throws if the user has no role. MongoDB lets it connect, and even run `ping`. */
  private async checkRole(): Promise<void> {
    try {
      await this.models.items.collection.findOne({}, { projection: { _id: 1 } });
    } catch (error) {
      if (isNotAllowed(error)) throw error;
    }
  }

  private connectOptions(): ConnectOptions {
    return {
      serverSelectionTimeoutMS: this.options.serverSelectionMs,
      connectTimeoutMS: this.options.serverSelectionMs,
      waitQueueTimeoutMS: this.options.serverSelectionMs,
      socketTimeoutMS: this.options.socketMs,
      heartbeatFrequencyMS: 2000,
      // Override the URI, because documents are used in this form.
      raw: false,
      promoteValues: true,
      promoteLongs: true,
      promoteBuffers: false,
      useBigInt64: false,
      // MongoDB stores regular expressions that JavaScript does not support.
      bsonRegExp: true,
      // Overrides the URI, because reads must find every acknowledged write.
      readPreference: 'primary',
      // Replaces invalid UTF-8 in texts with U+FFFD. One such document would fail everything that is read with it.
      enableUtf8Validation: false,
      // With a time limit, `readBy` retries: the driver would retry after the deadline too.
      retryReads: this.options.readMs === undefined,
      retryWrites: true,
    };
  }
}
