import type { mongo } from 'mongoose';
import { DatabaseTimeout, type Database } from './database.js';
import type { KnownRanks, Listing } from './known-ranks.js';
import { LIST_ORDER } from './models.js';
import { SharedReads } from './shared-reads.js';

/** Where nobody has asked for so long, following begins anew: what has happened meanwhile may be any amount. */
const FOLLOWED_FOR_MS = 10_000;
/** With more changes than these at once, counting anew is cheaper. */
const MAX_CHANGES = 500;
/** At the end of the stream MongoDB waits for a further change, at most so long. */
const AWAIT_MS = 1;
/** A user without the right to follow changes is not asked to again and again. */
const PAUSE_AFTER_ERROR_MS = 60_000;

const FIELDS = ['isVisible', 'status', 'categoryId', ...Object.keys(LIST_ORDER)];

/** The names of all fields that an update has touched, or something inside of them. */
const CHANGED = {
  $map: {
    input: {
      $concatArrays: [
        namesIn('k', { $objectToArray: { $ifNull: ['$updateDescription.updatedFields', {}] } }),
        { $ifNull: ['$updateDescription.removedFields', []] },
        namesIn('field', { $ifNull: ['$updateDescription.truncatedArrays', []] }),
      ],
    },
    in: { $arrayElemAt: [{ $split: ['$$this', '.'] }, 0] },
  },
};

/** What changes no list is left out: counters, texts, search terms. */
const PIPELINE = [
  {
    $project: {
      operationType: 1,
      changed: CHANGED,
      ...Object.fromEntries(FIELDS.map((f) => [`fullDocument.${f}`, 1])),
    },
  },
  { $match: { $or: [{ operationType: { $ne: 'update' } }, { changed: { $in: FIELDS } }] } },
];

interface Change {
  operationType: string;
  fullDocument?: Partial<Listing>;
  changed: string[];
}

/** Tells known ranks what happens to the items, while somebody asks: a change stream of MongoDB. */
export class ItemChanges {
  private stream: mongo.ChangeStream | undefined;
  private reading: Promise<unknown> | undefined;
  private client: mongo.MongoClient | undefined;
  private hasServerChanged = false;
  private readonly asking = new SharedReads<boolean>();
  private askedAt = 0;
  private pausedUntil = 0;
  private changes = 0;

  constructor(
    private readonly database: Database,
    private readonly ranks: KnownRanks,
  ) {}

  /** The same as long as the ranks have been told of nothing. */
  get moment(): number {
    return this.changes;
  }

  /**
   * Settles when the ranks have been told all that a majority had acknowledged before this was called; with false when
   * changes cannot be followed now.
   *
   * @throws DatabaseTimeout
   */
  async catchUp(): Promise<boolean> {
    if (Date.now() < this.pausedUntil || !this.database.hasBeenSeen) return false;
    return this.asking.ask('', () => this.follow());
  }

  private async follow(): Promise<boolean> {
    try {
      const isOld = Date.now() - this.askedAt > FOLLOWED_FOR_MS;
      this.askedAt = Date.now();
      if (isOld) this.begin();
      return await this.database.read(this.tellAllOrBeginAnew());
    } catch (error) {
      this.begin();
      this.pausedUntil = Date.now() + PAUSE_AFTER_ERROR_MS;
      if (error instanceof DatabaseTimeout) throw error;
      return false;
    }
  }

  private async tellAllOrBeginAnew(): Promise<boolean> {
    if (await this.tellAll()) return true;
    this.begin();
    return this.tellAll();
  }

  /** What was known is forgotten; with the next look a new stream is opened. */
  private begin(): void {
    const { stream, reading } = this;
    // Closed amid a read, a cursor would be left behind on the server.
    void Promise.allSettled([reading]).then(() => stream?.close().catch(() => undefined));
    this.stream = undefined;
    this.hasServerChanged = false;
    this.ranks.forget();
    this.changes++;
  }

  /** Whether these were all. */
  private async tellAll(): Promise<boolean> {
    const stream = (this.stream ??= await this.open());
    for (let told = 0; told < MAX_CHANGES; told++) {
      const next = stream.tryNext();
      this.reading = next;
      const change = (await next) as Change | null;
      if (stream !== this.stream) return false;
      // Dropped or renamed, the collection has no changes any more. A new primary may know of fewer than the last one did.
      if (change === null) return !stream.closed && !this.hasServerChanged;
      this.changes++;
      this.tell(change);
    }
    return false;
  }

  /** @throws where there is no replica set, or the user may not follow changes */
  private async open(): Promise<mongo.ChangeStream> {
    const { connection, models } = this.database;
    this.watchServers(connection.getClient());
    const { lastWrite } = (await connection.db?.admin().command({ hello: 1 }, { readPreference: 'primary' })) as {
      lastWrite?: { majorityOpTime?: { ts?: mongo.Timestamp } };
    };
    const startAtOperationTime = lastWrite?.majorityOpTime?.ts;
    if (startAtOperationTime === undefined) throw new Error('MongoDB is no replica set');
    // By itself a stream begins at the last write, which a count of what a majority has may not hold yet.
    return models.items.collection.watch(PIPELINE, {
      startAtOperationTime,
      readPreference: 'primary',
      batchSize: MAX_CHANGES,
      maxAwaitTimeMS: AWAIT_MS,
    });
  }

  private watchServers(client: mongo.MongoClient): void {
    if (client === this.client) return;
    this.client = client;
    client.on('serverDescriptionChanged', ({ previousDescription, newDescription }) => {
      if (previousDescription.type !== newDescription.type) this.hasServerChanged = true;
    });
  }

  private tell({ operationType, fullDocument = {}, changed }: Change): void {
    const fields = new Set(changed.filter((field) => FIELDS.includes(field)));
    if (operationType === 'insert') this.ranks.created(fullDocument);
    else if (operationType === 'update' && fields.size === 1 && fields.has('status')) this.ranks.statusChanged();
    else this.ranks.forget();
  }
}

function namesIn(key: string, input: object): object {
  return { $map: { input, in: `$$this.${key}` } };
}
