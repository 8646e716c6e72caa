import type { ItemWithoutUrl } from '@app/contracts';
import {
  DatabaseTimeout,
  toItemWithoutUrl,
  type CounterRepository,
  type ItemRecord,
  type ItemRepository,
  type ReferenceRepository,
} from '@app/database';
import { newItemRecord, type CreateRequest } from './new-item-record.js';
import { searchFields } from './search-terms.js';

/** An item as stored, and the hash of the request that made it, which under a key used twice may be another's. */
export interface CreatedItem {
  requestHash: string;
  item: ItemWithoutUrl;
}

/**
 * What became of each request, by its id: the item, or the error that kept this one from being stored; one of which
 * `isDatabaseAway` is true when that is unknown.
 */
export type CreatedItems = Map<string, CreatedItem | Error>;

/** The id is taken, by an item that no majority has: nobody can tell yet whether it will stay. */
const NOT_YET_STORED = 'the first insert of the item is not confirmed yet';

const MALFORMED = 'the item is stored, and another service has made it something that is no Item';

/** Times the numbers of a batch may turn out to be taken before creating is given up. */
const MAX_TAKEN_NUMBERS = 3;

/** Turns validated creates into stored items, many at a time. */
export class ItemCreator {
  constructor(
    private readonly items: ItemRepository,
    private readonly references: ReferenceRepository,
    private readonly counters: CounterRepository,
  ) {}

  /**
   * Stores items durably, with what search finds them by or, if they are not to be findable yet, without. Creating an id
   * again, also at the same time, stores nothing and answers the item that is there.
   *
   * @throws an error of which `isDatabaseAway` is true when the outcome is unknown: create all of them again
   */
  async createMany(requests: readonly CreateRequest[], { isFindable = true } = {}): Promise<CreatedItems> {
    const outcomes: CreatedItems = new Map();
    let open = requests;
    for (let tries = 1; open.length > 0; tries++) {
      const records: ItemRecord[] = [];
      for (const [index, record] of (await this.recordsFor(open, isFindable)).entries()) {
        if (record instanceof Error) outcomes.set(open[index]?.id ?? '', record);
        else records.push(record);
      }
      const failures = new Map((await this.items.insertMany(records)).map((failure) => [failure.index, failure]));
      const taken = { _id: new Set<string>(), publicId: new Set<string>() };
      records.forEach((record, index) => {
        const id = record._id.toHexString();
        const failure = failures.get(index);
        outcomes.set(id, failure?.error ?? created(record));
        if (failure?.taken !== undefined) taken[failure.taken].add(id);
      });
      const existing = await this.findCreated([...taken._id]);
      for (const id of taken._id) outcomes.set(id, existing.get(id) ?? new DatabaseTimeout(NOT_YET_STORED));
      open = tries < MAX_TAKEN_NUMBERS ? open.filter(({ id }) => taken.publicId.has(id)) : [];
      // The sequence lags behind the items, as after a restored backup.
      if (open.length > 0) await this.counters.raiseToHighestStored();
    }
    return outcomes;
  }

  /**
   * Those of the items that are stored, by id. Read from the majority: the first insert of an id may
   * have been seen by no other member of the replica set yet.
   */
  async findCreated(ids: readonly string[]): Promise<CreatedItems> {
    if (ids.length === 0) return new Map();
    const stored = await this.items.findStored(ids);
    return new Map(
      stored.map(({ id, requestHash, item }) => [
        id,
        item === undefined ? new Error(MALFORMED) : { requestHash, item },
      ]),
    );
  }

  /** The record of each request, or why it cannot be made. */
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
