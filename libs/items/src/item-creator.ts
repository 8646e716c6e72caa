import type { SitelessItem } from '@app/contracts';
import {
  DatabaseTimeout,
  toSitelessItem,
  type CounterRepository,
  type InsertFailure,
  type ItemRecord,
  type ItemRepository,
  type ReferenceRepository,
} from '@app/database';
import { newItemRecord, type CreateRequest } from './new-item-record.js';

/** An item as stored, and the hash of the request that made it, which under a key used twice may be another's. */
export interface CreatedItem {
  requestHash: string;
  item: SitelessItem;
}

/**
 * What became of each request, by its id: the item, or the error that kept this one from being stored; one of which
 * `isDatabaseAway` is true when that is unknown.
 */
export type CreatedItems = Map<string, CreatedItem | Error>;

/** The id is taken, by an item that no majority has: nobody can tell yet whether it will stay. */
const NOT_YET_STORED = 'the first insert of the item is not confirmed yet';

interface MadeRecord {
  request: CreateRequest;
  record: ItemRecord | Error;
}

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
   * Stores items durably. Creating an id again, also at the same time, stores nothing and answers the
   * item that is there.
   *
   * @throws an error of which `isDatabaseAway` is true when the outcome is unknown: create all of them again
   */
  async createMany(requests: readonly CreateRequest[]): Promise<CreatedItems> {
    const outcomes: CreatedItems = new Map();
    let open = requests;
    for (let tries = 1; open.length > 0; tries++) {
      const made = await this.recordsFor(open);
      for (const { request, record } of made) if (record instanceof Error) outcomes.set(request.id, record);
      open = made.filter(({ record }) => !(record instanceof Error)).map(({ request }) => request);
      const records = made.flatMap(({ record }) => (record instanceof Error ? [] : [record]));
      const failures = await this.items.insertMany(records);
      for (const record of withoutFailed(records, failures)) outcomes.set(record._id.toHexString(), created(record));
      for (const { index, error } of failures) {
        const request = open[index];
        if (request !== undefined) outcomes.set(request.id, error);
      }
      const doubled = requestsOf(open, failures, '_id').map(({ id }) => id);
      const existing = await this.findCreated(doubled);
      for (const id of doubled) outcomes.set(id, existing.get(id) ?? new DatabaseTimeout(NOT_YET_STORED));
      open = tries < MAX_TAKEN_NUMBERS ? requestsOf(open, failures, 'publicId') : [];
      // The sequence lags behind the items, as after a restored backup.
      if (open.length > 0) await this.counters.raiseToHighestStored();
    }
    return outcomes;
  }

  /**
   * Those of the items that are stored, by id. Read from the majority: the first insert of an id may
   * have been seen by no other member of the replica set yet.
   */
  async findCreated(ids: readonly string[]): Promise<Map<string, CreatedItem>> {
    if (ids.length === 0) return new Map();
    const stored = await this.items.findStored(ids);
    return new Map(stored.map((record) => [record._id.toHexString(), created(record)]));
  }

  private async recordsFor(requests: readonly CreateRequest[]): Promise<MadeRecord[]> {
    const titles = await Promise.all(
      requests.map(async ({ item: { brandId, conditionId } }) => ({
        brandTitle: await this.references.findBrandTitle(brandId),
        condition: await this.references.findConditionTitle(conditionId),
      })),
    );
    const firstPublicId = await this.counters.takePublicIds(requests.length);
    const now = new Date();
    return requests.map((request, index) => {
      const { brandTitle = null, condition = null } = titles[index] ?? {};
      const assigned = { publicId: firstPublicId + index, brandTitle, condition, now };
      return { request, record: newItemRecordOrError(request, assigned) };
    });
  }
}

/** One that cannot be made, as of a text that is too much for a regular expression, fails no neighbour. */
function newItemRecordOrError(...args: Parameters<typeof newItemRecord>): ItemRecord | Error {
  try {
    return newItemRecord(...args);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function created(record: ItemRecord): CreatedItem {
  return { requestHash: record.requestHash, item: toSitelessItem(record, new Date()) };
}

function withoutFailed(records: readonly ItemRecord[], failures: readonly InsertFailure[]): ItemRecord[] {
  const failed = new Set(failures.map(({ index }) => index));
  return records.filter((_, index) => !failed.has(index));
}

function requestsOf(
  requests: readonly CreateRequest[],
  failures: readonly InsertFailure[],
  taken: InsertFailure['taken'],
): CreateRequest[] {
  const indexes = new Set(failures.filter((failure) => failure.taken === taken).map(({ index }) => index));
  return requests.filter((_, index) => indexes.has(index));
}
