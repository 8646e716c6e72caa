import { rawItem } from '../../../test/support/items.js';
import type { Database } from './connection/database.js';
import { ItemRepository } from './item-repository.js';
import { newMongoId } from './mongo-id.js';

const LARGE_ITEMS = 10;

describe('ItemRepository.findStored', () => {
  it('findStored lets other work run between large items', async () => {
    const item = rawItem({ photos: [Array.from({ length: 20_000 }, () => ({}))] });
    const items = Array.from({ length: LARGE_ITEMS }, () => item);
    const database = { models: { items: { collection: {} } }, readAll: () => Promise.resolve(items) };
    let [turns, isDone] = [0, false];
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const found = await new ItemRepository(database as unknown as Database).findStored([newMongoId()], Infinity);
    isDone = true;
    expect(found.map((create) => create.item?.photos)).toHaveLength(LARGE_ITEMS);
    expect(turns).toBeGreaterThanOrEqual(LARGE_ITEMS - 1);
  });
});
