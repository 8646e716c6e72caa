import { categoryNumber, UNKNOWN_CATEGORY } from '@app/contracts';
import type { CounterRepository, ItemRecord, ItemRepository, ReferenceRepository } from '@app/database';
import { ALREADY_STORED, insertNumbered, itemSize, itemTooLarge } from '@app/items';
import { ItemLineSchema, importedItemId, toRecord, type ImportedItem } from './item-line.js';
import type { Loader, Outcome } from './loader.js';
import { rejected, validate, wholeLine, type SourceLine } from './source-line.js';

export interface ItemLoaderOptions {
  isDryRun: boolean;
  /** Limit on the validated values of a line, as JSON. */
  maxItemBytes: number;
  /** Called once, before the first items are stored. */
  beforeStoring: () => Promise<void>;
}

/** Stores items by the rules of create. Items that are already stored stay unchanged. */
export class ItemLoader implements Loader {
  private isStoring = false;

  constructor(
    private readonly items: ItemRepository,
    private readonly references: ReferenceRepository,
    private readonly counters: CounterRepository,
    private readonly options: ItemLoaderOptions,
  ) {}

  async prepare(lines: readonly SourceLine[]): Promise<() => Promise<Outcome>> {
    const { valid, rejects } = await this.resolve(lines);
    const stored = await this.items.findStoredIds(valid.map(({ id }) => id));
    const missing = valid.filter(({ id }) => !stored.has(id));
    const outcome = { stored: 0, existing: valid.length - missing.length, rejects };
    if (this.options.isDryRun) return () => Promise.resolve({ ...outcome, stored: missing.length });
    if (missing.length > 0 && !this.isStoring) {
      await this.options.beforeStoring();
      this.isStoring = true;
    }
    const records = await this.recordsFor(missing);
    return () => this.store(missing, records, outcome);
  }

  /** Returns the valid lines, with the numbers of their categories. */
  private async resolve(lines: readonly SourceLine[]): Promise<Pick<Outcome, 'rejects'> & { valid: ImportedItem[] }> {
    const { valid, rejects } = validate(ItemLineSchema, lines);
    const names = new Set(valid.map(({ data }) => data.categoryId).filter((name) => categoryNumber(name) === null));
    const numbers = await this.references.findCategoryIds([...names]);
    const items: ImportedItem[] = [];
    for (const { data, ...line } of valid) {
      if (itemSize(data, this.options.maxItemBytes) === undefined) {
        rejects.push(rejected(line, wholeLine(itemTooLarge(this.options.maxItemBytes))));
        continue;
      }
      const categoryId = categoryNumber(data.categoryId) ?? numbers.get(data.categoryId);
      if (categoryId === undefined) rejects.push(rejected(line, UNKNOWN_CATEGORY));
      else items.push({ id: importedItemId(line, data.externalId), line, data, categoryId });
    }
    return { valid: items, rejects };
  }

  private async recordsFor(items: readonly ImportedItem[]): Promise<ItemRecord[]> {
    if (items.length === 0) return [];
    const titlesOf = await this.references.findTitles(items.map(({ data }) => data));
    const firstPublicId = await this.counters.takePublicIds(items.length);
    const now = new Date();
    return items.map((item, index) => toRecord(item, { publicId: firstPublicId + index, ...titlesOf(item.data), now }));
  }

  private async store(items: readonly ImportedItem[], records: ItemRecord[], outcome: Outcome): Promise<Outcome> {
    const total = { ...outcome, rejects: [...outcome.rejects] };
    const repositories = { items: this.items, counters: this.counters };
    const inserted = await insertNumbered(repositories, items, async (some) =>
      some === items ? records : this.recordsFor(some),
    );
    for (const [{ line }, result] of inserted) {
      // Stored in the meantime, from another line of this run or by another run.
      if (result === ALREADY_STORED) total.existing += 1;
      else if (result instanceof Error)
        total.rejects.push(rejected(line, wholeLine(`Could not be stored: ${result.message}`)));
      else total.stored += 1;
    }
    return total;
  }
}
