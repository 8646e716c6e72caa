import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SchemaRepository, type Database } from '@app/database';
import { Command, runToExit, type CommandExit } from '../support/command.js';
import { createMongodb, removeDatabaseServers, startMongodb } from '../support/database-servers.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { record, store, uniqueWord } from '../support/items.js';
import { START_WITHIN_MS } from '../support/processes.js';

const run = promisify(execFile);
const FULL_DISK = '/dev/full';
/** In what Node.js prints for an unexpected error. */
const STACK = '\n    at ';
const describeWithFullDisk = existsSync(FULL_DISK) ? describe : describe.skip;

describe('commands', () => {
  let env: NodeJS.ProcessEnv;
  let database: Database;
  beforeEach(async () => {
    env = freshEnvironment();
    database = await openDatabase(env);
  });
  afterEach(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });
  afterAll(removeDatabaseServers);

  const command = async (name: string, more: NodeJS.ProcessEnv = {}, ...args: string[]): Promise<string> =>
    (await run(process.execPath, [`dist/apps/cli/src/${name}.js`, ...args], { env: { ...env, ...more } })).stdout;

  /** Creates the indexes, which is all that the other commands need `setup` for. */
  const prepare = (): Promise<void> => new SchemaRepository(database).createIndexes();

  describe('whose output cannot be written', () => {
    const intoClosedPipe = (name: string, ...args: string[]): Promise<CommandExit> => {
      const command = new Command(name, env, args);
      command.child.stdout?.destroy();
      return command.waitForExit();
    };
    const ontoFullDisk = (name: string, ...args: string[]): Promise<unknown> => {
      const script = `dist/apps/cli/src/${name}.js`;
      return run('sh', ['-c', `exec "$0" "$@" > ${FULL_DISK}`, process.execPath, script, ...args], { env });
    };

    describeWithFullDisk(FULL_DISK, () => {
      it.each([['generate', '1000'], ['check-data'], ['keys', 'create', '--owner', 'acme'], ['import', '/dev/null']])(
        'a command whose output is lost exits with 2: %s',
        async (name, ...args) => {
          await prepare();
          await expect(ontoFullDisk(name, ...args)).rejects.toMatchObject({
            code: 2,
            stderr: expect.stringMatching(/^Cannot write to standard output: ENOSPC[^\n]+$/m) as string,
          });
        },
      );
    });

    it('a command that lists ends when its reader closes the pipe early', async () => {
      await store(database, record({ price: 'x' as unknown as number }));
      for (const [name, ...args] of [['generate', '999999999'], ['check-data']] as const)
        expect(await intoClosedPipe(name, ...args)).toEqual({ code: 0, stdout: '', stderr: '' });
    });

    it('a command that writes to the database finishes although its reader closes the pipe early', async () => {
      expect(await intoClosedPipe('setup')).toMatchObject({ code: 0, stderr: '' });
      expect(await new SchemaRepository(database).missingIndexes()).toEqual({ unique: [], performance: [] });
    });
  });

  it.each([
    'setup',
    'setup --init-replica-set rs0/127.0.0.1:1 --admin-uri-file /dev/null',
    'keys list',
    'import -',
    'check-data',
  ])('a command does not wait for MongoDB if MONGODB_URI is not valid: %s', async (command) => {
    const [name = '', ...args] = command.split(' ');
    const { code, stdout, stderr } = await runToExit(name, { MONGODB_URI: 'mongodb://user:s3/cret@127.0.0.1' }, args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^MONGODB_URI is not valid: [^\n]+\n$/);
    expect(stderr).not.toContain('cret@');
  });

  it.each([
    ['demo', '--help'],
    ['check-data', '--help'],
    ['check-data', 'items'],
  ])('a command without arguments refuses any, and prints usage: %s %s', async (name, argument) => {
    const { code, stdout, stderr } = await runToExit(name, env, [argument]);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(`usage: ${name}`)]);
    expect(await database.models.items.estimatedDocumentCount()).toBe(0);
  });

  it('check-data prints to stdout only what it has found', async () => {
    const mongod = await createMongodb();
    const check = new Command('check-data', { MONGODB_URI: mongod.url }, []);
    await eventually(() => {
      expect(check.stdout + check.stderr).toContain('MongoDB is unavailable, trying again');
    }, START_WITHIN_MS);
    await startMongodb(mongod);
    expect(await check.waitForExit()).toMatchObject({ code: 0, stdout: 'every item conforms\n' });
  });

  it('a command that gives up names the command that initiates the replica set, if there is none', async () => {
    const mongod = await createMongodb();
    mongod.start();
    const { code, stderr } = await runToExit('import', { MONGODB_URI: mongod.url }, ['-']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/(^|\n)MongoDB has no replica set yet: [^\n]+ --init-replica-set [^\n]+\n$/);
  });

  describe('size-burst', () => {
    it.each([
      ['--items 9999999 --seconds 100 --worker-rate 1000 --concurrency 1', 'a higher --concurrency'],
      ['--items 9999999 --seconds 100 --worker-rate 1000 --arrival-rate 200000', 'no --arrival-rate'],
    ])('size-burst refuses a burst that takes long to simulate: %s', async (args, hint) => {
      const { code, stderr } = await runToExit('size-burst', env, args.split(' '));
      expect([code, stderr]).toEqual([2, expect.stringContaining(hint)]);
    });

    it('size-burst simulates a large burst that is stored in large batches', async () => {
      const output = await command('size-burst', {}, ...'--items 9999999 --seconds 100 --worker-rate 1000'.split(' '));
      expect(output).toContain('101 workers store 9999999 creates within 100 s.');
    });

    it.each([
      ['all at once', '', 'BACKLOG_LIMIT above 1000, and CREATE_WAIT_MS of at least 10000'],
      [
        'at a rate below that of the workers',
        '--arrival-rate 10',
        'BACKLOG_LIMIT above 1, and CREATE_WAIT_MS of at least 1000',
      ],
    ])('size-burst prints the settings that a burst needs if its creates arrive %s', async (_, more, settings) => {
      const args = `--items 1000 --seconds 101 --worker-rate 100 ${more}`.trim().split(' ');
      expect(await command('size-burst', {}, ...args)).toContain(`This needs ${settings} or Prefer: respond-async.\n`);
    });
  });

  describe('setup', () => {
    it('setup creates all indexes and can be repeated', async () => {
      const schema = new SchemaRepository(database);
      expect((await schema.missingIndexes()).unique).toEqual([
        'items.publicId_1',
        'favourites.userId_1_itemId_1',
        'categories.slug_1',
      ]);
      await command('setup');
      await command('setup');
      expect(await schema.missingIndexes()).toEqual({ unique: [], performance: [] });
    });

    it('setup removes obsolete indexes and no others', async () => {
      const order = { isBoosted: -1, boostScore: -1, createdAt: -1, publicId: -1 } as const;
      const { collection } = database.models.items;
      const indexNames = async (): Promise<string[]> =>
        (await collection.listIndexes().toArray()).map(({ name }) => String(name));
      const others = ['someone_1', ...(await command('setup').then(indexNames))];
      const obsolete = [{ status: 1 }, { categoryId: 1, status: 1 }, { searchTerms: 1 }];
      const search = { searchTerms: 1, isVisible: 1, status: 1 } as const;
      for (const fields of [...obsolete, search]) await collection.createIndex({ ...fields, ...order }, {}, {});
      await collection.createIndex({ slug: 1 }, { unique: true }, {});
      await collection.createIndex({ someone: 1 }, {}, {});
      expect(await command('setup')).toContain('removed obsolete ones');
      expect((await indexNames()).sort()).toEqual(others.sort());
    });

    it('setup raises the publicId sequence to the highest stored number', async () => {
      await store(database, record({ publicId: 5000 }));
      await command('setup');
      expect(await database.models.counters.findById('item.publicId').lean()).toMatchObject({ value: 5000 });
    });

    it('setup creates the secret of idempotency keys only once', async () => {
      const secretsAfterSetup = async (): Promise<unknown> => {
        const output = await command('setup');
        const secrets = await database.models.secrets.find().lean();
        expect(output).not.toContain(secrets[0]?.value);
        return secrets;
      };
      const first = await secretsAfterSetup();
      expect(first).toEqual([{ _id: 'idempotency', value: expect.stringMatching(/^.{32,}$/) as string }]);
      expect(await secretsAfterSetup()).toEqual(first);
    });

    it('setup never lowers the publicId sequence', async () => {
      await database.models.counters.insertMany([{ _id: 'item.publicId', value: 70 }]);
      await command('setup');
      expect(await database.models.counters.findById('item.publicId').lean()).toMatchObject({ value: 70 });
    });

    it('setup derives missing and outdated search terms', async () => {
      const word = uniqueWord();
      const [missing, outdated] = await store(
        database,
        record({ name: word, searchTerms: [] }),
        record({ name: word, searchTerms: [], searchVersion: 0 }),
      );
      await database.models.items.collection.updateOne({ _id: missing._id }, { $unset: { searchVersion: 1 } });
      expect(await command('setup')).toContain('2 items changed');
      const found = await database.models.items.find({ searchTerms: word }).lean();
      expect(found.map(({ publicId }) => publicId).sort()).toEqual([missing.publicId, outdated.publicId].sort());
    });

    it.each([[['--init-replica-set', 'nonsense']], [['--unknown']]])(
      'setup rejects %j and prints usage',
      async (args) => {
        const { code, stdout, stderr } = await runToExit('setup', env, args);
        expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('usage: setup')]);
        expect(stderr).not.toContain(STACK);
      },
    );

    describe('with an administrator', () => {
      let folder: string;
      beforeEach(async () => {
        folder = await mkdtemp(join(tmpdir(), 'setup-'));
      });
      afterEach(() => rm(folder, { recursive: true }));

      const setUp = (file: string, more: NodeJS.ProcessEnv = {}): Promise<CommandExit> =>
        runToExit('setup', { ...env, ...more }, ['--init-replica-set', 'rs0/127.0.0.1:1', '--admin-uri-file', file]);

      it.each(['missing', '.'])('setup names a file that cannot be read, in one line: %s', async (name) => {
        const { code, stdout, stderr } = await setUp(join(folder, name));
        expect([code, stdout]).toEqual([2, '']);
        expect(stderr).toMatch(/^Cannot read \S+: E[^\n]+\n$/);
      });

      it.each(['', 'mongodb://admin:s3/cret@127.0.0.1', 'mongodb://admin:s3%cret@127.0.0.1', 'mongodb://127.0.0.1'])(
        'setup does not wait for MongoDB if its URI cannot be used: %s',
        async (uri) => {
          const file = join(folder, 'admin-uri');
          await writeFile(file, `${uri}\n`);
          const { code, stdout, stderr } = await setUp(file, { MONGODB_URI: 'mongodb://user:word@127.0.0.1/shop' });
          expect([code, stdout]).toEqual([2, '']);
          expect(stderr).toMatch(/^The URIs? of the [^\n]+\n$/);
          expect(stderr).not.toContain('cret');
        },
      );
    });

    it('setup says why the replica set is not initiated', async () => {
      const mongod = await createMongodb();
      mongod.start();
      const setup = new Command('setup', env, ['--init-replica-set', `other/127.0.0.1:${String(mongod.port)}`]);
      await eventually(() => {
        expect(setup.stdout).toMatch(/ is unavailable, trying again: .*\bother\b.*\brs0\b/);
      }, START_WITHIN_MS);
      setup.child.kill();
      await setup.waitForExit();
    });

    it('setup names a missing setting in one line', async () => {
      await expect(command('setup', { MONGODB_URI: '' })).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^MONGODB_URI is missing: [^\n]+\n$/) as string,
      });
    });
  });

  describe('demo', () => {
    const counts = async (): Promise<number[]> => {
      const { categories, brands, conditions, items } = database.models;
      const models = [categories, brands, conditions, items] as { countDocuments: () => Promise<number> }[];
      return Promise.all(models.map((model) => model.countDocuments()));
    };

    it('demo loads the catalogue once', async () => {
      await prepare();
      await command('demo');
      expect(await counts()).toEqual([40, 60, 6, 1000]);
      expect(await database.models.favourites.countDocuments({ userId: 'demo-user' })).toBeGreaterThan(0);
      await database.models.items.deleteOne({});
      expect(await command('demo')).toContain('left out');
      expect(await counts()).toEqual([40, 60, 6, 999]);
    });

    it('demo loads nothing where there are no items, but categories, brands or conditions', async () => {
      await prepare();
      await command('demo');
      await database.models.items.deleteMany({});
      expect(await command('demo')).toContain('left out');
      expect(await counts()).toEqual([40, 60, 6, 0]);
      for (const { collection } of [database.models.categories, database.models.brands, database.models.conditions]) {
        await Promise.all(Object.values(database.models).map((model) => model.collection.deleteMany({})));
        await collection.insertOne({ _id: 1, slug: 'own', title: 'Own' } as never);
        expect(await command('demo')).toContain('left out');
        expect(await collection.countDocuments()).toBe(1);
      }
    });

    it('demo loads nothing in production unless DEMO_CATALOGUE is on', async () => {
      await prepare();
      await expect(command('demo', { NODE_ENV: 'production' })).rejects.toMatchObject({ code: 2 });
      expect(await counts()).toEqual([0, 0, 0, 0]);
      await command('demo', { NODE_ENV: 'production', DEMO_CATALOGUE: 'off' });
      expect(await counts()).toEqual([0, 0, 0, 0]);
      await command('demo', { NODE_ENV: 'production', DEMO_CATALOGUE: 'on' });
      expect(await counts()).toEqual([40, 60, 6, 1000]);
    });

    it('demo numbers the items by age', async () => {
      await prepare();
      await command('demo');
      const items = await database.models.items.find({}, { publicId: 1, createdAt: 1 }).sort({ publicId: 1 }).lean();
      const times = items.map(({ createdAt }) => createdAt.getTime());
      expect(times).toEqual([...times].sort((a, b) => a - b));
    });
  });
});
