import { freshEnvironment, openDatabase } from '../../../../test/support/environment.js';
import type { Database } from '../connection/database.js';
import { ApiKeyRepository, TooManyKeys } from './api-key-repository.js';

describe('the API keys of an owner', () => {
  const DAY_MS = 86_400_000;
  let database: Database;
  let keys: ApiKeyRepository;
  beforeEach(async () => {
    database = await openDatabase(freshEnvironment());
    keys = new ApiKeyRepository(database);
  });
  afterEach(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });
  const create = (owner = 'acme') =>
    keys.create({ owner, scopes: ['items:create'], expiresAt: new Date(Date.now() + DAY_MS) });

  it('the API keys of an owner are never more than two, even if many are created at the same time', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => create()));
    const stored = await keys.findAll();
    expect(stored.length).toBeLessThanOrEqual(2);
    expect(stored).toHaveLength(outcomes.filter(({ status }) => status === 'fulfilled').length);
  });

  it('the API keys of an owner can be created again after one of two was revoked', async () => {
    const first = await create();
    const second = await create();
    await expect(create()).rejects.toMatchObject({ others: [first.record, second.record] });
    await expect(create()).rejects.toThrow(TooManyKeys);
    expect(await keys.findAll()).toHaveLength(2);
    await keys.revoke(first.record.id);
    expect(await create()).toHaveProperty('key');
  });

  it('the API keys of an owner do not count for another owner', async () => {
    await create('globex');
    await create('globex');
    expect(await create()).toHaveProperty('key');
  });
});
