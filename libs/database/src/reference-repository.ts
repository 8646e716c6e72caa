import type { Database } from './database.js';
import { Memory } from './memory.js';
import type { Models } from './models.js';

/** How long a title that was found may be answered from memory. */
const REMEMBERED = { forMs: 60_000, count: 10_000 };

/** What items refer to by number: categories, brands, conditions. Other services and the import write them. */
export class ReferenceRepository {
  private readonly brands: TitleMemory;
  private readonly conditions: TitleMemory;

  constructor(private readonly database: Database) {
    this.brands = new TitleMemory(database.models.brands);
    this.conditions = new TitleMemory(database.models.conditions);
  }

  /** The number of the category with this slug, or null. */
  async findCategoryId(slug: string): Promise<number | null> {
    const found = this.database.models.categories.findOne({ slug }, { _id: 1 }).lean();
    return (await this.database.read(found))?._id ?? null;
  }

  /** The brand's title, or null when the number is null or unknown. */
  async findBrandTitle(id: number | null): Promise<string | null> {
    return id === null ? null : this.brands.find(id);
  }

  /** The condition's title, or null when the number is null or unknown. */
  async findConditionTitle(id: number | null): Promise<string | null> {
    return id === null ? null : this.conditions.find(id);
  }
}

/** Remembers what was found, never that something was missing: a new brand counts at once. */
class TitleMemory {
  private readonly titles = new Memory<number, string>(REMEMBERED);

  constructor(private readonly model: Models['brands']) {}

  async find(id: number): Promise<string | null> {
    const remembered = this.titles.get(id);
    if (remembered !== undefined) return remembered;
    const found = await this.model.findOne({ _id: id }, { title: 1 }).lean();
    if (found === null) return null;
    this.titles.set(id, found.title);
    return found.title;
  }
}
