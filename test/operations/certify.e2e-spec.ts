import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Database } from '@app/database';
import { connectRedis } from '@app/queue';
import { describeStores } from '../faults/staging-report.js';
import { ROOT } from '../support/checkout.js';
import { createRedis, removeDatabaseServers, startRedis } from '../support/database-servers.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { record, store } from '../support/items.js';

const run = promisify(execFile);

/** What can be tested without a staging environment. */
describe('npm run certify', () => {
  let env: NodeJS.ProcessEnv;
  let database: Database;
  beforeAll(async () => {
    env = freshEnvironment();
    database = await openDatabase(env);
  });
  afterAll(async () => {
    await database.connection.dropDatabase();
    await database.close();
    await removeDatabaseServers();
  });

  /** Expects the command to fail, and returns its output. */
  const refusal = async (...args: string[]): Promise<string> => {
    const { PATH, HOME } = process.env;
    const certify = run(process.execPath, [join(ROOT, 'test', 'faults', 'certify.mjs'), ...args], {
      env: { PATH, HOME },
    });
    const { code, stdout, stderr } = (await certify.catch((error: unknown) => error)) as Record<string, unknown>;
    expect(code).toBe(1);
    return [stdout, stderr].join('');
  };

  it.each([
    [['--mongodb', 'mongodb://127.0.0.1/own'], '--mongodb and --redis (or MONGODB_URI and REDIS_URL) are required'],
    [['--redis', 'redis://127.0.0.1'], '--mongodb and --redis (or MONGODB_URI and REDIS_URL) are required'],
    [['--mongo', 'mongodb://127.0.0.1/own'], "Unknown option '--mongo'"],
  ])('certify prints its usage for %j', async (args, message) => {
    const output = await refusal(...args);
    expect(output).toContain(message);
    expect(output).toContain('npm run certify -- --mongodb ');
  });

  it('certify refuses a database that is not empty, and leaves it as it is', async () => {
    await store(database, record());
    const content = async (): Promise<unknown[]> => [
      (await database.connection.listCollections()).map(({ name }) => name).sort(),
      await database.models.items.find().lean(),
    ];
    const before = await content();
    const uris = ['--mongodb', String(env['MONGODB_URI']), '--redis', String(env['REDIS_URL'])];
    const output = await refusal(...uris, '--fail-over-mongodb', 'skip', '--fail-over-redis', 'skip');
    expect(output).toContain('The database of --mongodb is not empty');
    expect(await content()).toEqual(before);
  });

  it('the report of certify names settings of Redis that it may not read as unread', async () => {
    const server = await createRedis();
    await startRedis(server);
    const redis = connectRedis(server.url, 'producer', () => undefined);
    try {
      await eventually(() => redis.ping());
      expect((await describeStores(database, redis))[202]).toContain('its log flushed to disk: everysec');
      await redis.acl('SETUSER', 'default', '-config');
      const { 200: item, 202: job } = await describeStores(database, redis);
      expect(item).toContain(
        'a majority of the voting members of MongoDB (visible to clients: 1 with data, 0 arbiters)',
      );
      expect(job).toContain('appendonly, appendfsync, maxmemory-policy could not be read');
      expect(job).not.toContain('LOSE');
    } finally {
      redis.disconnect();
    }
  });
});
