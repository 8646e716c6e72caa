import type { ItemWithoutUrl } from '@app/contracts';
import {
  toItemWithoutUrl,
  type CounterRepository,
  type ItemRecord,
  type ItemRepository,
  type ReferenceRepository,
} from '@app/database';
import { TimeoutError } from '@app/runtime';
import { ALREADY_STORED, insertNumbered } from './insert-numbered.js';
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

/** The id is taken by an item that no majority has stored yet, so it may still be rolled back. */
const NOT_YET_STORED = 'the first insert of the item is not confirmed yet';

/** Limit of the search for items that are already stored. */
const FIND_MS = 5000;
const MALFORMED = 'the item is stored, but another service has changed it so that it is not a valid Item';

/** Stores validated create requests as items, in batches. */
export class ItemCreator {
  constructor(
    private readonly items: ItemRepository,
    private readonly references: ReferenceRepository,
    private readonly counters: CounterRepository,
  ) {}

  /**
   * Stores items durably, with their search terms unless `isFindable` is false. Creating an id again, even
   * concurrently, stores nothing and returns the item that is already stored.
   *
   * @throws an error for which `isDatabaseUnavailable` returns true if the outcome is unknown; create all of them again
   */
  async createMany(requests: readonly CreateRequest[], { isFindable = true } = {}): Promise<CreatedItems> {
    const outcomes: CreatedItems = new Map();
    const inserted = await insertNumbered({ items: this.items, counters: this.counters }, requests, (some) =>
      this.recordsFor(some, isFindable),
    );
    for (const [{ id }, result] of inserted) {
      if (result !== ALREADY_STORED) outcomes.set(id, result instanceof Error ? result : created(result));
    }
    const taken = requests.filter((request) => inserted.get(request) === ALREADY_STORED).map(({ id }) => id);
    const existing = await this.findCreated(taken);
    for (const id of taken) outcomes.set(id, existing.get(id) ?? new TimeoutError(NOT_YET_STORED));
    return outcomes;
  }

  /**
   * Returns those of the items that are stored, by id. Reads with read concern "majority", because the first insert of
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

  /** Returns the record of each request, or the error that prevents it. */
  private async recordsFor(requests: readonly CreateRequest[], isFindable: boolean): Promise<(ItemRecord | Error)[]> {
    const [titlesOf, firstPublicId] = await Promise.all([
      this.references.findTitles(requests.map(({ item }) => item)),
      this.counters.takePublicIds(requests.length),
    ]);
    const now = new Date();
    return requests.map((request, index) => {
      try {
        const record = newItemRecord(request, { publicId: firstPublicId + index, ...titlesOf(request.item), now });
        return isFindable ? { ...record, ...searchFields(record) } : record;
      } catch (error) {
        return error as Error;
      }
    });
  }
}

function created(record: ItemRecord): CreatedItem {
  return { requestHash: record.requestHash, item: toItemWithoutUrl(record, new Date()) };
}
