import { rawItem } from '../../../test/support/items.js';
import type { Database } from './connection/database.js';
import { ItemRepository } from './item-repository.js';
import { idOf } from './serialization/item-json.js';

const LARGE_ITEMS = 10;

describe('ItemRepository.findStored', () => {
  it('findStored lets other work run between large items', async () => {
    const photos = [Array.from({ length: 20_000 }, () => ({}))];
    const items = Array.from({ length: LARGE_ITEMS }, () => rawItem({ photos }));
    const database = { findFirstItems: () => Promise.resolve({ items, areAll: true }) };
    const repository = new ItemRepository(database as unknown as Database);
    let [turns, isDone] = [0, false];
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const reading = repository.findStored(items.map(idOf), performance.now() + 60_000);
    // Also after an error, because the process would never exit otherwise.
    const found = await reading.finally(() => (isDone = true));
    expect(found.map((create) => create.item?.photos)).toHaveLength(LARGE_ITEMS);
    expect(turns).toBeGreaterThanOrEqual(LARGE_ITEMS - 1);
  });
});
