import { freshEnvironment, openDatabase } from '../../../test/support/service.js';
import type { Database } from './database.js';

describe('reading all that a query finds', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openDatabase(freshEnvironment());
  });
  afterAll(async () => {
    await database.close();
  });

  const ask = (filter: object): Promise<unknown[]> =>
    database.readAll(() => database.models.items.collection.find(filter));

  it('tells that somebody waits, until the last has an answer', async () => {
    expect(database.isReading).toBe(false);
    const reads = [ask({}), ask({})];
    expect(database.isReading).toBe(true);
    await Promise.all(reads);
    expect(database.isReading).toBe(false);
  });

  it('tells that nobody waits after a query that failed', async () => {
    await expect(ask({ $noSuchOperator: 1 })).rejects.toThrow('noSuchOperator');
    expect(database.isReading).toBe(false);
  });
});
