import { categoryNumber, exactNumber, text, wholeNumber } from '@app/contracts';
import type { ImportRepository, ReferenceKind } from '@app/database';
import type { SearchBackfill } from '@app/items';
import { z } from 'zod';
import type { Loader, Outcome } from './loader.js';
import { rejected, validate, wholeLine, type SourceLine } from './source-line.js';

const slug = text(1).refine((value) => categoryNumber(value) === null, {
  error: 'A slug that is a number would never be found',
});

type Row = { id: number; title: string; slug?: string };

const TitleSchema = z.object({ id: exactNumber(), title: text(1) });
const SCHEMAS: Record<ReferenceKind, z.ZodType<Row>> = {
  categories: z.object({ id: wholeNumber().min(0), title: text(1), slug }),
  brands: TitleSchema,
  conditions: TitleSchema,
};

const SLUG_TAKEN = { path: ['slug'], message: 'Another category has this slug' };
const IS_TAKEN = /\bE11000\b/;

/** Stores categories, brands or conditions. If an id already exists, updates its title and slug. */
export class ReferenceLoader implements Loader {
  /** The titles of all lines by id. Reference data is small enough to be kept in memory. */
  private readonly titles = new Map<number, string>();

  constructor(
    private readonly kind: ReferenceKind,
    private readonly imports: ImportRepository,
    private readonly search: SearchBackfill,
    private readonly isDryRun: boolean,
  ) {}

  prepare(lines: readonly SourceLine[]): Promise<() => Promise<Outcome>> {
    const { valid, rejects } = validate(SCHEMAS[this.kind], lines);
    if (this.isDryRun) return Promise.resolve(() => Promise.resolve({ stored: valid.length, existing: 0, rejects }));
    return Promise.resolve(async () => {
      const rows = valid.map(({ data: { id, ...row } }) => ({ _id: id, ...row }));
      const { changed, failures } = await this.imports.upsert(this.kind, rows);
      const failed = new Map(failures.map((failure) => [failure.index, failure.error]));
      valid.forEach(({ data, ...line }, index) => {
        const error = failed.get(index);
        if (error === undefined) this.titles.set(data.id, data.title);
        else {
          const reason = IS_TAKEN.test(error.message) ? SLUG_TAKEN : wholeLine(`Could not be stored: ${error.message}`);
          rejects.push(rejected(line, reason));
        }
      });
      return { stored: changed, existing: valid.length - failures.length - changed, rejects };
    });
  }

  /** Copies the titles to the items, also for unchanged lines, because an interrupted run may have missed some. */
  async finish(stop: AbortSignal): Promise<string[]> {
    const { kind } = this;
    if (this.isDryRun || kind === 'categories') return [];
    const renamed = await this.imports.renameInItems(kind, this.titles, stop);
    const sentence = `${String(renamed)} items have a new ${kind === 'brands' ? 'brandTitle' : 'condition'}`;
    if (kind === 'conditions') return [sentence];
    const derived = await this.search.run(new Date(), { stop });
    return [`${sentence}, ${String(derived)} have new search terms`];
  }
}
