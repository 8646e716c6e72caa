import { TtlCache } from '@app/runtime';
import type { mongo } from 'mongoose';
import type { Database } from './connection/database.js';
import type { ItemRecord } from './item-record.js';
import type { CategoryRecord, TitleRecord } from './models.js';
import { toNumber } from './serialization/plain-item.js';
import { stringsOnly } from './serialization/projection.js';

/** How long a title may be returned from the cache. */
const TITLE_CACHE = { forMs: 60_000, count: 10_000 };

/** Matches only numbers that are not negative. Another service may have stored an id that the driver cannot read. */
const HAS_NUMBER = { _id: { $gte: 0 } };

/** The numbers by which an item refers to its brand and condition. */
export type Referring = Pick<ItemRecord, 'brandId' | 'conditionId'>;

/** The titles of a brand and a condition, null if the number is null or unknown. */
export interface Titles {
  brandTitle: string | null;
  condition: string | null;
}

/** Returns the titles of an item whose titles were looked up. */
export type TitlesOf = (item: Referring) => Titles;

/** Reads what items refer to by number: categories, brands and conditions. Other services and the import write them. */
export class ReferenceRepository {
  /** Holds only titles that were found, so that a new brand takes effect at once. */
  private readonly titles = {
    brands: new TtlCache<number, string>(TITLE_CACHE),
    conditions: new TtlCache<number, string>(TITLE_CACHE),
  };

  constructor(private readonly database: Database) {}

  /**
   * Returns the number of the category with this slug, or null.
   *
   * @param deadline in ms of `performance.now()`
   * @throws TimeoutError at the deadline
   */
  async findCategoryId(slug: string, deadline: number): Promise<number | null> {
    const [found] = await this.database.readAll(deadline, (limits) =>
      this.categories.find({ slug, ...HAS_NUMBER }, { projection: { _id: 1 }, limit: 1, ...limits }),
    );
    return categoryIdOf(found) ?? null;
  }

  /** Returns the numbers of existing categories, by slug. */
  async findCategoryIds(slugs: readonly string[]): Promise<Map<string, number>> {
    if (slugs.length === 0) return new Map();
    const query = { slug: { $in: [...slugs] }, ...HAS_NUMBER };
    const found = await this.categories.find(query, { projection: stringsOnly('slug') }).toArray();
    return new Map(
      found.flatMap((category) => {
        const id = categoryIdOf(category);
        return id === undefined ? [] : [[category.slug, id]];
      }),
    );
  }

  /** Looks up the titles of these items, with at most one query per kind. Ignores what is not a number. */
  async findTitles(items: readonly { [Field in keyof Referring]?: unknown }[]): Promise<TitlesOf> {
    const [brands, conditions] = await Promise.all([
      this.findByIds('brands', new Set(items.map(({ brandId }) => brandId))),
      this.findByIds('conditions', new Set(items.map(({ conditionId }) => conditionId))),
    ]);
    return ({ brandId, conditionId }) => ({
      brandTitle: brands.get(brandId) ?? null,
      condition: conditions.get(conditionId) ?? null,
    });
  }

  private get categories(): mongo.Collection<CategoryRecord> {
    return this.database.connection.collection<CategoryRecord>('categories');
  }

  private async findByIds(kind: 'brands' | 'conditions', ids: Set<unknown>): Promise<Map<number | null, string>> {
    const cache = this.titles[kind];
    const titles = new Map<number | null, string>();
    const missing: number[] = [];
    for (const id of ids) {
      if (typeof id !== 'number') continue;
      const title = cache.get(id);
      if (title === undefined) missing.push(id);
      else titles.set(id, title);
    }
    if (missing.length === 0) return titles;
    const collection = this.database.connection.collection<TitleRecord>(kind);
    const find = { projection: stringsOnly('title') };
    for (const { _id, title } of await collection.find({ _id: { $in: missing } }, find).toArray()) {
      // Another service may have stored values of other types.
      const id = toNumber(_id);
      if (id === undefined || typeof title !== 'string') continue;
      cache.set(id, title);
      titles.set(id, title);
    }
    return titles;
  }
}

/** Returns the number of a category, or undefined if another service has stored one that no item can have. */
function categoryIdOf(category: Pick<CategoryRecord, '_id'> | undefined): number | undefined {
  const id = toNumber(category?._id);
  return Number.isSafeInteger(id) && Number(id) >= 0 ? id : undefined;
}
