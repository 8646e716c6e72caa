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
import { isReadRetryable } from './database-errors.js';
import { createModels, type Models } from './models.js';
import type { RawItem } from './serialization/item-json.js';

export interface DatabaseOptions {
  uri: string;
  /** How long an operation looks for a server before it fails. */
  serverSelectionMs: number;
  /** How long the server may take to respond before the connection is closed. */
  socketMs: number;
  /** The time limit for a read as a whole, see {@link Database.read}. Unlimited if absent. */
  readMs?: number;
}

/** Options of one query. */
export interface QueryLimits {
  maxTimeMS: number;
}

/** A query for items, with options of MongoDB's `find` command. */
export interface ItemQuery {
  filter: mongo.Filter<mongo.Document>;
  projection: mongo.Document;
  sort?: Record<string, 1 | -1>;
  hint?: mongo.Hint;
  skip?: number;
  limit?: number;
}

const RETRY_MS = 500;
const CLOSE_WITHIN_MS = 500;

/** How many reads run at a time. The driver has more connections, so no read waits for one past its deadline. */
const READS_AT_ONCE = 64;
/** The share of the remaining time after which MongoDB aborts a query, so that its error arrives in time. */
const QUERY_SHARE = 0.9;
/** Makes MongoDB return everything in one batch, unless that is more than 16 MB. */
const ONE_BATCH = { batchSize: 2 ** 31 - 1 };
/** Keeps the documents of a batch as they are. */
const RAW_BATCH = { fieldsAsRaw: { firstBatch: true } };

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
}

/** A connection to MongoDB, and its collections. */
export class Database {
  readonly connection: Connection;
  readonly models: Models;
  private readonly reads = new Limiter(READS_AT_ONCE);
  private connected = false;
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
   * Keeps trying to connect until MongoDB responds or the database is closed. Calls `report` with a line every few
   * seconds. Each attempt uses a new client, because one whose first connect failed stays unusable.
   */
  async connect(report: (line: string) => void): Promise<void> {
    const reportRarely = throttle(report);
    while (!this.closing.signal.aborted) {
      try {
        await this.connection.openUri(this.options.uri, this.connectOptions());
        this.connected = true;
        return;
      } catch (error) {
        reportRarely(`MongoDB is away, trying again: ${error instanceof Error ? error.name : 'unknown error'}`);
        await delay(RETRY_MS, undefined, { signal: this.closing.signal }).catch(() => undefined);
      }
    }
  }

  /** Whether MongoDB has responded at least once. */
  get hasResponded(): boolean {
    return this.connected;
  }

  /** Returns whether MongoDB responds within `withinMs`. */
  async responds(withinMs: number): Promise<boolean> {
    const { db } = this.connection;
    return this.connected && db !== undefined && (await settledWithin(withinMs, db.command({ ping: 1 }))) !== undefined;
  }

  /**
   * Limits a read to `withinMs`, by default `readMs`. The limits of the driver are not enough: they add up over retries
   * and while a server is unresponsive.
   *
   * @throws TimeoutError after that time
   */
  async read<T>(operation: PromiseLike<T>, withinMs = this.options.readMs): Promise<T> {
    return withinMs === undefined ? operation : withTimeout(withinMs, operation);
  }

  /**
   * Returns everything that a query of the driver finds. A query that has not started by the deadline never does.
   * MongoDB aborts a running one shortly before the deadline.
   *
   * @param deadline in ms of `performance.now()`
   * @param query receives the limits that it must pass to the driver
   * @throws TimeoutError, or the server error with code 50; `isDatabaseUnavailable` returns true for both
   */
  async readAll<T>(deadline: number, query: (limits: QueryLimits) => mongo.AbstractCursor<T>): Promise<T[]> {
    return this.readWithin(deadline, (limits) => query(limits).toArray());
  }

  /**
   * Returns all items that a query finds, as BSON. Otherwise the same as `readAll`.
   *
   * Sends the command itself, because a cursor of the driver parses every field of each document, even with its option
   * `raw`.
   */
  async findItems(query: ItemQuery, deadline: number): Promise<RawItem[]> {
    return this.readWithin(deadline, async (limits, db) => {
      const name = this.models.items.collection.collectionName;
      const options = { ...query, ...ONE_BATCH, ...limits };
      try {
        const readConcern = db.readConcern && { readConcern: { level: db.readConcern.level } };
        const { cursor } = await db.command({ find: name, ...options, ...readConcern }, RAW_BATCH);
        const { id, firstBatch } = cursor as { id: number | mongo.Long; firstBatch: RawItem[] };
        if (id === 0) return firstBatch;
        await db.command({ killCursors: name, cursors: [mongo.Long.fromValue(id)] });
      } catch (error) {
        if (!isReadRetryable(error)) throw error;
      }
      const { filter, ...rest } = options;
      return db
        .collection(name)
        .find<RawItem & mongo.Document>(filter, { ...rest, raw: true })
        .toArray();
    });
  }

  private async readWithin<T>(
    deadline: number,
    read: (limits: QueryLimits, db: mongo.Db) => Promise<T[]>,
  ): Promise<T[]> {
    const { db } = this.connection;
    // The native collections of the driver do not exist before the first connect.
    if (!this.connected || db === undefined) throw new TimeoutError('not connected');
    const run = (): Promise<T[]> => read({ maxTimeMS: queryMs(deadline) }, db);
    const found = await withDeadline(deadline, this.reads.run(run, { deadline }));
    if (found === EXPIRED) throw new TimeoutError('not read in time');
    return found;
  }

  /** Stops connecting, or closes the connection. Does not wait long for an unresponsive server. */
  async close(): Promise<void> {
    this.closing.abort();
    await settledWithin(CLOSE_WITHIN_MS, this.connection.close());
  }

  private connectOptions(): ConnectOptions {
    return {
      serverSelectionTimeoutMS: this.options.serverSelectionMs,
      connectTimeoutMS: this.options.serverSelectionMs,
      socketTimeoutMS: this.options.socketMs,
      heartbeatFrequencyMS: 2000,
      // Overrides the URI, because reads must find every acknowledged write.
      readPreference: 'primary',
      retryReads: true,
      retryWrites: true,
    };
  }
}

function queryMs(deadline: number): number {
  return Math.max(1, Math.ceil((deadline - performance.now()) * QUERY_SHARE));
}
