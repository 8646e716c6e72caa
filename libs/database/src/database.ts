import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError, EXPIRED, Limiter } from '@app/runtime';
import mongoose, { mongo, type Connection, type ConnectOptions } from 'mongoose';
import { before, DatabaseTimeout } from './deadline.js';
import { createModels, type Models } from './models.js';

export interface DatabaseOptions {
  uri: string;
  /** How long an operation looks for a server before it fails. */
  serverSelectionMs: number;
  /** How long an answer of the server may take before the connection is given up. */
  socketMs: number;
  /** Longest time of a read as a whole, see {@link Database.read}; none when absent. */
  readMs?: number;
}

/** Options of one query. */
export interface QueryLimits {
  maxTimeMS: number;
}

const RETRY_MS = 500;
const REPORT_EVERY_MS = 4000;
const CLOSE_WITHIN_MS = 500;

/** Reads at the same time: fewer than the driver has connections, so that none waits for one without a deadline. */
const READS_AT_ONCE = 64;
/** The share of the time left after which MongoDB gives a query up, so that it says so in time. */
const QUERY_SHARE = 0.9;

/**
 * Checks the form of a `MONGODB_URI`.
 *
 * @throws ConfigError whose message does not hold the URI, which may hold a password
 */
export function checkMongodbUri(uri: string): void {
  try {
    // Reads the URI and does not connect.
    new mongo.MongoClient(uri);
  } catch {
    throw new ConfigError(
      'MONGODB_URI is not valid: it must be mongodb[+srv]://[user:password@]host[:port][,…][/database][?options]',
    );
  }
}

/** One connection to MongoDB and the collections on it. */
export class Database {
  readonly connection: Connection;
  readonly models: Models;
  private readonly reads = new Limiter(READS_AT_ONCE);
  private seen = false;
  private readonly closing = new AbortController();

  constructor(private readonly options: DatabaseOptions) {
    this.connection = mongoose.createConnection();
    // An operation before the first connect would wait for it for ever: it fails at once instead.
    this.connection.set('bufferCommands', false);
    this.models = createModels(this.connection);
    // The driver reports through the operations; without a listener the process would end.
    this.connection.on('error', () => undefined);
  }

  /**
   * Keeps trying until MongoDB answers or the database is closed; `report` gets one line every few
   * seconds. Each try is a new client: one whose first connect failed stays unusable for ever.
   */
  async connect(report: (line: string) => void): Promise<void> {
    let reportAt = 0;
    while (!this.closing.signal.aborted) {
      try {
        await this.connection.openUri(this.options.uri, this.connectOptions());
        this.seen = true;
        return;
      } catch (error) {
        if (performance.now() >= reportAt) {
          report(`MongoDB is away, trying again: ${error instanceof Error ? error.name : 'unknown error'}`);
          reportAt = performance.now() + REPORT_EVERY_MS;
        }
        await delay(RETRY_MS, undefined, { signal: this.closing.signal }).catch(() => undefined);
      }
    }
  }

  /** Whether MongoDB has answered at least once. */
  get hasBeenSeen(): boolean {
    return this.seen;
  }

  /** Whether MongoDB answers within `withinMs`. */
  async answers(withinMs: number): Promise<boolean> {
    if (!this.seen) return false;
    const ping = this.connection.db?.command({ ping: 1 });
    return within(ping, withinMs).then(
      () => true,
      () => false,
    );
  }

  /**
   * Bounds a read by `readMs` or less, whatever the driver does meanwhile: its own limits add up over
   * retries and a stopped server.
   *
   * @throws DatabaseTimeout
   */
  async read<T>(operation: PromiseLike<T>, withinMs = this.options.readMs): Promise<T> {
    return withinMs === undefined ? operation : within(operation, withinMs);
  }

  /**
   * Returns all that a query of the driver finds. One that has not begun by the deadline never does; MongoDB stops working
   * on the others a little earlier.
   *
   * @param deadline in ms of `performance.now()`
   * @param query gets the limits that it has to pass on to the driver
   * @throws DatabaseTimeout, or the server's error of code 50; `isDatabaseAway` is true of both
   */
  async readAll<T>(deadline: number, query: (limits: QueryLimits) => mongo.AbstractCursor<T>): Promise<T[]> {
    // Before the first connect the driver's own collections are not there.
    if (!this.seen) throw new DatabaseTimeout('not connected');
    const read = (): Promise<T[]> => query({ maxTimeMS: queryMs(deadline) }).toArray();
    const found = await before(deadline, this.reads.run(read, { deadline }));
    if (found === EXPIRED) throw new DatabaseTimeout('not read in time');
    return found;
  }

  /** Gives up connecting, or says goodbye to MongoDB if it listens. */
  async close(): Promise<void> {
    this.closing.abort();
    await within(this.connection.close(), CLOSE_WITHIN_MS).catch(() => undefined);
  }

  private connectOptions(): ConnectOptions {
    return {
      serverSelectionTimeoutMS: this.options.serverSelectionMs,
      connectTimeoutMS: this.options.serverSelectionMs,
      socketTimeoutMS: this.options.socketMs,
      heartbeatFrequencyMS: 2000,
      // Whatever the URI says: what was acknowledged has to be found.
      readPreference: 'primary',
      retryReads: true,
      retryWrites: true,
    };
  }
}

async function within<T>(operation: PromiseLike<T> | undefined, ms: number): Promise<T> {
  if (operation === undefined) throw new DatabaseTimeout('not connected');
  return before(performance.now() + ms, operation);
}

function queryMs(deadline: number): number {
  return Math.max(1, Math.ceil((deadline - performance.now()) * QUERY_SHARE));
}
