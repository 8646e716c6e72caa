import type { ItemWithoutUrl } from '@app/contracts';
import {
  NOT_INDEXED,
  toItemWithoutUrl,
  type CounterRepository,
  type ItemRecord,
  type ItemRepository,
  type ReferenceRepository,
  type TitlesOf,
} from '@app/database';
import { TimeoutError } from '@app/runtime';
import { newItemRecord, type CreateRequest } from './new-item-record.js';
import { searchFields } from './search-terms.js';

/**
 * A stored item, with the hash of the request that created it. That may be a different request if an Idempotency-Key
 * was used twice.
 */
export interface CreatedItem {
  requestHash: string;
  item: ItemWithoutUrl;
}

/**
 * The outcome of each request, by item id: the stored item, or the error that prevented it. If `isDatabaseUnavailable`
 * returns true for the error, the outcome is unknown.
 */
export type CreatedItems = Map<string, CreatedItem | Error>;

/** Returned instead of a record if an item with its id is already stored. */
export const ALREADY_STORED = Symbol('already stored');

/** The most tries of an item whose `publicId` turns out to be taken. */
const MAX_ATTEMPTS = 3;

/** The id is taken by an item that no majority has stored yet, so it may still be rolled back. */
const NOT_YET_STORED = 'the first insert of the item is not confirmed yet';

/** Limit of the search for items that are already stored. */
const FIND_MS = 5000;
const MALFORMED = 'the item is stored, but another service has changed it so that it is not a valid Item';

/** What a batch of items needs from MongoDB before it can be stored. */
export interface PreparedBatch {
  firstPublicId: number;
  titlesOf: TitlesOf;
}

/** How to store items. */
export interface CreateOptions {
  /** Whether to derive their search terms. */
  isFindable?: boolean;
  /** The ids of items that an earlier attempt may have stored. These are looked up first. */
  retriedIds?: readonly string[];
  /** The result of {@link ItemCreator.prepare}, if it was called earlier, for at least as many items. */
  prepared?: Promise<PreparedBatch> | undefined;
}

/** Stores validated create requests as items, in batches. */
export class ItemCreator {
  constructor(
    private readonly items: ItemRepository,
    private readonly references: ReferenceRepository,
    private readonly counters: CounterRepository,
  ) {}

  /** Starts to take numbers and to look up titles. The items need not be validated yet. */
  prepare(items: Parameters<ReferenceRepository['findTitles']>[0]): Promise<PreparedBatch> {
    const queries = [this.references.findTitles(items), this.counters.takePublicIds(items.length)] as const;
    const prepared = Promise.all(queries).then(([titlesOf, firstPublicId]) => ({ titlesOf, firstPublicId }));
    // It may reject before `createMany` awaits it.
    prepared.catch(() => undefined);
    return prepared;
  }

  /**
   * Stores items durably. Creating an id again, even concurrently, stores nothing and returns the item that is already
   * stored.
   *
   * @throws an error for which `isDatabaseUnavailable` returns true if the outcome is unknown; create all of them again
   */
  async createMany(requests: readonly CreateRequest[], options: CreateOptions = {}): Promise<CreatedItems> {
    const { isFindable = true, retriedIds = [], prepared } = options;
    const outcomes = await this.findCreated(retriedIds);
    const open = requests.filter(({ id }) => !outcomes.has(id));
    const inserted = await insertNumbered({ items: this.items, counters: this.counters }, open, async (some) => {
      const isFirst = prepared !== undefined && some === open;
      return recordsFor(some, await (isFirst ? prepared : this.prepare(some.map(({ item }) => item))), isFindable);
    });
    for (const [{ id }, result] of inserted) {
      if (result !== ALREADY_STORED) outcomes.set(id, result instanceof Error ? result : created(result));
    }
    const taken = open.filter((request) => inserted.get(request) === ALREADY_STORED).map(({ id }) => id);
    const existing = await this.findCreated(taken);
    for (const id of taken) outcomes.set(id, existing.get(id) ?? new TimeoutError(NOT_YET_STORED));
    return outcomes;
  }

  /**
   * Returns the stored items, by id. Reads with read concern "majority", because the first insert of
   * an id may not have reached any other member of the replica set yet.
   */
  async findCreated(ids: readonly string[]): Promise<CreatedItems> {
    if (ids.length === 0) return new Map();
    const stored = await this.items.findStored(ids, performance.now() + FIND_MS);
    return new Map(
      stored.map(({ id, requestHash, item }) => [
        id,
        item === undefined ? new Error(MALFORMED) : { requestHash, item },
      ]),
    );
  }
}

/** Returns the record of each request, or the error that prevents it. */
function recordsFor(
  requests: readonly CreateRequest[],
  { firstPublicId, titlesOf }: PreparedBatch,
  isFindable: boolean,
): (ItemRecord | Error)[] {
  const now = new Date();
  return requests.map((request, index) => {
    try {
      const record = newItemRecord(request, { publicId: firstPublicId + index, ...titlesOf(request.item), now });
      return Object.assign(record, isFindable ? searchFields(record) : { searchVersion: NOT_INDEXED });
    } catch (error) {
      return error as Error;
    }
  });
}

function created(record: ItemRecord): CreatedItem {
  return { requestHash: record.requestHash, item: toItemWithoutUrl(record, new Date()) };
}

/**
 * Stores new items durably, each independently of the others, and gives those whose `publicId` turns out to be taken
 * another one.
 *
 * @param toRecords returns the record of each source with numbers from the sequence, or the error that prevents it
 * @returns for each source, the stored record, {@link ALREADY_STORED}, or the error that prevented it
 * @throws an error for which `isDatabaseUnavailable` returns true if the outcome is unknown
 */
export async function insertNumbered<Source>(
  { items, counters }: { items: ItemRepository; counters: CounterRepository },
  sources: readonly Source[],
  toRecords: (sources: readonly Source[]) => Promise<readonly (ItemRecord | Error)[]>,
): Promise<Map<Source, ItemRecord | typeof ALREADY_STORED | Error>> {
  const outcomes = new Map<Source, ItemRecord | typeof ALREADY_STORED | Error>();
  let open = sources;
  for (let attempt = 1; open.length > 0; attempt++) {
    const batch: { source: Source; record: ItemRecord }[] = [];
    for (const [index, record] of (await toRecords(open)).entries()) {
      const source = open[index] as Source;
      outcomes.set(source, record);
      if (!(record instanceof Error)) batch.push({ source, record });
    }
    const again: Source[] = [];
    for (const { index, taken, error } of await items.insertMany(batch.map(({ record }) => record))) {
      const { source } = batch[index] as (typeof batch)[number];
      outcomes.set(source, taken === '_id' ? ALREADY_STORED : error);
      if (taken === 'publicId') again.push(source);
    }
    open = attempt < MAX_ATTEMPTS ? again : [];
    // The sequence lags behind the items, for example after a backup was restored.
    if (open.length > 0) await counters.raiseToHighestStored();
  }
  return outcomes;
}
