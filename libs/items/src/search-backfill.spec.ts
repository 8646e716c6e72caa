import { newMongoId, mongoId, type MaintenanceRepository, type StaleItem } from '@app/database';
import { SearchBackfill } from './search-backfill.js';

describe('SearchBackfill', () => {
  it('a backfill starts no further batch after it is stopped', async () => {
    const stop = new AbortController();
    const updateSearchFields = jest.fn((updates: unknown[]) => {
      stop.abort();
      return Promise.resolve(updates.length);
    });
    async function* findStale(): AsyncGenerator<StaleItem[]> {
      for (let batch = 0; batch < 3; batch++)
        yield await Promise.resolve([{ _id: mongoId(newMongoId()), name: 'Lamp' }]);
    }
    const backfill = new SearchBackfill({ findStale, updateSearchFields } as unknown as MaintenanceRepository);
    expect(await backfill.run(new Date(), { stop: stop.signal })).toBe(1);
    expect(updateSearchFields).toHaveBeenCalledTimes(1);
  });
});
