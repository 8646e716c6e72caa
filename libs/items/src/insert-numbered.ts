import type { CounterRepository, ItemRecord, ItemRepository } from '@app/database';

/** Returned instead of a record if an item with its id is already stored. */
export const ALREADY_STORED = Symbol('already stored');

/** How often an item is tried while its `publicId` turns out to be taken. */
const MAX_ATTEMPTS = 3;

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
