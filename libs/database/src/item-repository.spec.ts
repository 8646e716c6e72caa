import type { Database } from './connection/database.js';
import { ItemRepository } from './item-repository.js';

describe('ItemRepository', () => {
  /** The number of reads that have started. None of them ends before the test. */
  let started: number;
  let end: () => void;
  let items: ItemRepository;
  beforeEach(() => {
    started = 0;
    const ended = new Promise<[]>((resolve) => {
      end = () => {
        resolve([]);
      };
    });
    const read = (): Promise<[]> => {
      started++;
      return ended;
    };
    items = new ItemRepository({
      findItems: read,
      findFirstItems: () => read().then((found) => ({ items: found, areAll: true })),
      readAll: read,
      models: { items: {}, favourites: {} },
    } as unknown as Database);
  });

  const FIRST = { skip: 0, limit: 20 };
  const soon = (): number => performance.now() + 60_000;

  it.each<[string, () => Promise<unknown>]>([
    ['favourites', () => items.findFavouritesPage('reader', {}, FIRST, soon())],
    ['deep pages', () => items.findPage({}, { skip: 500, limit: 20 }, soon())],
    ['searches for several words', () => items.findPage({ terms: ['a', 'b'] }, FIRST, soon())],
  ])(
    'a repository reads at most two lists of %s at a time, and other lists and items alongside them',
    async (_, readList) => {
      for (let times = 0; times < 10; times++) void readList();
      await ticks();
      const ofLists = started;
      void readList();
      await ticks();
      expect(started).toBe(ofLists);
      // A search for two words begins with two counts.
      expect(ofLists).toBeLessThanOrEqual(4);
      void items.findPage({}, FIRST, soon());
      void items.findById('0123456789abcdef01234567', soon());
      await ticks();
      expect(started).toBe(ofLists + 2);
      end();
      await ticks();
    },
  );
});

/** Waits until everything that waits for nothing else has run. */
async function ticks(): Promise<void> {
  for (let times = 0; times < 5; times++) await new Promise((resolve) => setImmediate(resolve));
}
