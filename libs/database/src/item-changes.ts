import type { mongo } from 'mongoose';
import type { Database } from './database.js';
import type { KnownRanks, Listing } from './known-ranks.js';
import { LIST_ORDER } from './models.js';
import { SharedReads } from './shared-reads.js';

/** Where nobody has asked for so long, following begins anew: what has happened meanwhile may be any amount. */
const FOLLOWED_FOR_MS = 10_000;
/** With as many changes at once, counting anew is cheaper. */
const MAX_CHANGES = 500;
/** At the end of the stream MongoDB waits for a further change, at most so long. */
const AWAIT_MS = 1;
/** Counting needs no stream: one that answers late is given up. */
const TOLD_WITHIN_MS = 150;
/** After an error: MongoDB is slow or away, is no replica set, or the user may not follow changes. */
const PAUSE_MS = 10_000;

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

/** One change stream, until something about it is in doubt. */
interface Following {
  stream?: mongo.ChangeStream;
  isInDoubt: boolean;
  /** What is being done with it. */
  telling?: Promise<boolean>;
}

/** Tells known ranks what happens to the items, while somebody asks: a change stream of MongoDB. */
export class ItemChanges {
  private following: Following | undefined;
  private client: mongo.MongoClient | undefined;
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
   * Settles, soon, with true when the ranks have been told all that a majority had acknowledged before this was called;
   * with false when they know nothing.
   */
  async catchUp(): Promise<boolean> {
    return this.asking.ask('', () => this.follow());
  }

  private async follow(): Promise<boolean> {
    if (performance.now() < this.pausedUntil || !this.database.hasBeenSeen) return false;
    if (performance.now() - this.askedAt > FOLLOWED_FOR_MS) this.stop();
    this.askedAt = performance.now();
    const following = (this.following ??= { isInDoubt: false });
    following.telling = this.tellAll(following);
    try {
      if (await this.database.read(following.telling, TOLD_WITHIN_MS)) return true;
    } catch {
      this.pausedUntil = performance.now() + PAUSE_MS;
    }
    this.stop();
    return false;
  }

  /** What was known is forgotten; whoever asks next opens another stream. */
  private stop(): void {
    const { following } = this;
    this.following = undefined;
    this.ranks.forget();
    this.changes++;
    // Closed amid a read, a cursor would be left behind on the server.
    void Promise.allSettled([following?.telling]).then(() => following?.stream?.close().catch(() => undefined));
  }

  /** Whether these were all. */
  private async tellAll(following: Following): Promise<boolean> {
    const stream = (following.stream ??= await this.open());
    for (let told = 0; told < MAX_CHANGES && following === this.following; told++) {
      const change = (await stream.tryNext()) as Change | null;
      if (following !== this.following) return false;
      // Dropped or renamed, the collection has no changes any more.
      if (change === null) return !stream.closed && !following.isInDoubt;
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
    client.on(
      'serverDescriptionChanged',
      ({ previousDescription: { type: before }, newDescription: { type: now } }) => {
        // Another primary may know of less than the last one did.
        const isAnother = before !== now && [before, now].includes('RSPrimary');
        if (isAnother && this.following !== undefined) this.following.isInDoubt = true;
      },
    );
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
