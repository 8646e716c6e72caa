import type { Database } from './database.js';
import type { ItemRecord } from './item-record.js';
import { TtlCache } from './ttl-cache.js';
import type { CategoryRecord, TitleRecord } from './models.js';

/** How long a title that was found may be answered from memory. */
const REMEMBERED = { forMs: 60_000, count: 10_000 };

/** What an item says of its brand and condition. */
export type Referring = Pick<ItemRecord, 'brandId' | 'conditionId'>;

/** Their titles, null where the number is null or unknown. */
export interface Titles {
  brandTitle: string | null;
  condition: string | null;
}

/** What items refer to by number: categories, brands, conditions. Other services and the import write them. */
export class ReferenceRepository {
  /** What was found, never that something was missing: a new brand counts at once. */
  private readonly titles = {
    brands: new TtlCache<number, string>(REMEMBERED),
    conditions: new TtlCache<number, string>(REMEMBERED),
  };

  constructor(private readonly database: Database) {}

  /**
   * Returns the number of the category with this slug, or null.
   *
   * @param deadline in ms of `performance.now()`
   * @throws DatabaseTimeout at the deadline
   */
  async findCategoryId(slug: string, deadline: number): Promise<number | null> {
    const { collection } = this.database.models.categories;
    const [found] = await this.database.readAll(deadline, (limits) =>
      collection.find<CategoryRecord>({ slug }, { projection: { _id: 1 }, limit: 1, ...limits }),
    );
    return found?._id ?? null;
  }

  /** The numbers of those of the categories that there are, by slug. */
  async findCategoryIds(slugs: readonly string[]): Promise<Map<string, number>> {
    if (slugs.length === 0) return new Map();
    const found = await this.database.models.categories.find({ slug: { $in: slugs } }, { slug: 1 }).lean();
    return new Map(found.map(({ slug, _id }) => [slug, _id]));
  }

  /** Returns a lookup of the titles that these items refer to, made with one query a kind at most. */
  async findTitles(items: readonly Referring[]): Promise<(item: Referring) => Titles> {
    const [brands, conditions] = await Promise.all([
      this.findByIds('brands', new Set(items.map(({ brandId }) => brandId))),
      this.findByIds('conditions', new Set(items.map(({ conditionId }) => conditionId))),
    ]);
    return ({ brandId, conditionId }) => ({
      brandTitle: brands.get(brandId) ?? null,
      condition: conditions.get(conditionId) ?? null,
    });
  }

  private async findByIds(kind: 'brands' | 'conditions', ids: Set<number | null>): Promise<Map<number | null, string>> {
    const memory = this.titles[kind];
    const titles = new Map<number | null, string>();
    const others: number[] = [];
    for (const id of ids) {
      if (id === null) continue;
      const title = memory.get(id);
      if (title === undefined) others.push(id);
      else titles.set(id, title);
    }
    if (others.length === 0) return titles;
    const collection = this.database.connection.collection<TitleRecord>(kind);
    for (const { _id, title } of await collection.find({ _id: { $in: others } }).toArray()) {
      memory.set(_id, title);
      titles.set(_id, title);
    }
    return titles;
  }
}
