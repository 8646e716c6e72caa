import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mongo } from 'mongoose';
import type { Item } from '@app/contracts';
import { SchemaRepository, type Database, type ItemRecord } from '@app/database';
import { withDatabase } from '../../apps/cli/src/with-database.js';
import { Command, runToExit, type CommandExit } from '../support/command.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { insertUnreadable, UNREADABLE } from '../support/insert-bson.js';
import { record, store, uniqueWord, validInput } from '../support/items.js';
import { startService, type Service } from '../support/service.js';

/** How long a busy machine may take until a command has started and does its work. */
const STARTED_WITHIN_MS = 60_000;

const ndjson = (lines: unknown[]): string =>
  lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');

describe('import', () => {
  let service: Service;
  let folder: string;
  beforeAll(async () => {
    service = await startService();
    folder = await mkdtemp(join(tmpdir(), 'import-'));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
    await service.stop();
  });

  const run = (args: string[], stdin = ''): Promise<CommandExit> => runToExit('import', service.env, args, stdin);
  const importLines = (lines: unknown[], ...args: string[]): Promise<CommandExit> => run(['-', ...args], ndjson(lines));
  const fileOf = async (name: string, content: string): Promise<string> => {
    await writeFile(join(folder, name), content);
    return join(folder, name);
  };
  const storedAs = async (name: string): Promise<ItemRecord[]> => service.database.models.items.find({ name }).lean();
  const search = async (text: string): Promise<Item[]> => service.api.getAll({ search: text });

  describe('of items', () => {
    let database: Database | undefined;
    afterAll(async () => {
      await database?.connection.dropDatabase();
      await database?.close();
    });

    it('an import stores items that are immediately searchable and in list order', async () => {
      const word = uniqueWord();
      const item = (name: string, more: object = {}) => validInput({ name: `${word} ${name}`, ...more });
      const { code, stdout } = await importLines([
        item('old', { createdAt: '2026-01-01T00:00:00.000Z', status: 'sold', sellerId: 'seller-1', viewCount: 7 }),
        item('hidden', { isVisible: false }),
        item('weak boost', { createdAt: '2026-01-02T00:00:00.000Z', isBoosted: true, boostScore: 1 }),
        item('strong boost', { createdAt: '2025-01-02T00:00:00.000Z', isBoosted: true, boostScore: 9 }),
        item('first', { createdAt: '2026-02-01T00:00:00.000Z' }),
        item('second', { createdAt: '2026-02-01T00:00:00.000Z' }),
      ]);
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(/^6 lines read: 6 stored, 0 already there, 0 rejected/),
      ]);
      const found = await search(word.slice(0, 12));
      const names = ['strong boost', 'weak boost', 'second', 'first', 'old'];
      expect(found.map(({ name }) => name.replace(`${word} `, ''))).toEqual(names);
      expect(found.at(-1)).toMatchObject({
        status: 'sold',
        sellerId: 'seller-1',
        viewCount: 7,
        createdAt: '2026-01-01T00:00:00.000Z',
        categoryId: 7,
      });
      expect((await service.api.getAll({ pageSize: 2 })).map(({ id }) => id)).toEqual(
        found.slice(0, 2).map(({ id }) => id),
      );
    });

    it('an import assigns publicIds and slugs as create does, and create continues after them', async () => {
      const before = await service.api.create(validInput());
      await importLines([validInput({ name: 'Crème brûlée', externalId: uniqueWord() })]);
      const [imported] = await storedAs('Crème brûlée');
      const after = await service.api.create(validInput());
      expect(imported?.slug).toBe(`creme-brulee-${String(imported?.publicId)}`);
      expect(imported?.publicId).toBeGreaterThan(before.publicId);
      expect(imported?.publicId).toBeLessThan(after.publicId);
    });

    it('an import uses other publicIds when its own are taken', async () => {
      const { publicId } = await service.api.create(validInput());
      await store(service.database, record({ publicId: publicId + 2 }));
      const name = uniqueWord();
      const { code } = await importLines(
        [1, 2, 3].map((externalId) => validInput({ name, externalId: `${name}${String(externalId)}` })),
      );
      expect(code).toBe(0);
      expect(await storedAs(name)).toHaveLength(3);
    });

    it('an import resolves category slugs, brands and conditions', async () => {
      const word = uniqueWord();
      const { categories, brands, conditions } = service.database.models;
      await categories.insertMany([{ _id: 31, slug: word, title: 'Bicycles' }]);
      await brands.insertMany([{ _id: 31, title: `Brand${word}` }]);
      await conditions.insertMany([{ _id: 31, title: 'Like new' }]);
      await importLines([validInput({ categoryId: word, brandId: 31, conditionId: 31 })]);
      const [found] = await search(`brand${word}`);
      expect(found).toMatchObject({ categoryId: 31, brandTitle: `Brand${word}`, condition: 'Like new' });
    });

    it('an import reads CSV', async () => {
      const word = uniqueWord();
      const file = await fileOf(
        `${word}.csv`,
        'externalId,name,description,price,categoryId,stock,brandId,conditionId,isFeatured,images\r\n' +
          `${word},"${word}, red","Two lines\r\nof ""text"" here",12.50,7,2,,,true,https://a/1.jpg|https://a/2.jpg\r\n`,
      );
      expect((await run([file])).code).toBe(0);
      const [found] = await search(word);
      expect(found).toMatchObject({
        name: `${word}, red`,
        description: 'Two lines\nof "text" here',
        price: 12.5,
        brandId: null,
        isFeatured: true,
        images: ['https://a/1.jpg', 'https://a/2.jpg'],
      });
    });

    it('a second import of the same file changes and duplicates nothing', async () => {
      const name = uniqueWord();
      const lines = [
        validInput({ name, externalId: `${name}-1`, price: 10 }),
        validInput({ name, price: 20 }),
        // An identical line without an externalId is the same item.
        validInput({ name, price: 20 }),
      ];
      expect((await importLines(lines)).stdout).toContain('3 lines read: 2 stored, 1 already there');
      const before = await storedAs(name);
      const again = await importLines([validInput({ name, externalId: `${name}-1`, price: 99 }), ...lines]);
      expect([again.code, again.stdout]).toEqual([
        0,
        expect.stringContaining('4 lines read: 0 stored, 4 already there'),
      ]);
      expect(await storedAs(name)).toEqual(before);
    });

    it('an import writes each bad line to a file with its number and the reasons, and stores the others', async () => {
      const name = uniqueWord();
      const rejects = join(folder, 'rejects.ndjson');
      const long = `{"name":"${'x'.repeat(1_100_000)}"}`;
      const bad = JSON.stringify(validInput({ name: 'ab', price: -1 }));
      const large = validInput({ name, description: 'x'.repeat(70_000) });
      const lines = ['not json', validInput({ name }), bad, '', long, validInput({ categoryId: 'unknown' }), large];
      const { code, stdout } = await importLines(lines, '--rejects', rejects);
      expect([code, stdout]).toEqual([
        1,
        expect.stringContaining('6 lines read: 1 stored, 0 already there, 5 rejected'),
      ]);
      const rejected = (await readFile(rejects, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { line: number });
      const reason = (path: string[], message: string) => ({
        path,
        message: expect.stringContaining(message) as string,
      });
      expect(rejected.sort((a, b) => a.line - b.line)).toEqual([
        { line: 1, reasons: [reason([], 'not JSON')], text: 'not json' },
        { line: 3, reasons: [reason(['name'], 'Too short'), reason(['price'], '>=0')], text: bad },
        { line: 5, reasons: [reason([], 'too long')], text: long.slice(0, 1000) },
        { line: 6, reasons: [reason(['categoryId'], 'No such category')], text: expect.any(String) as string },
        { line: 7, reasons: [reason([], 'at most 65536 bytes')], text: JSON.stringify(large) },
      ]);
      expect(await storedAs(name)).toHaveLength(1);
    });

    it('an import prints the first bad lines when there is no file for them', async () => {
      const { code, stderr } = await importLines(Array.from({ length: 20 }, () => '{"price":true}'));
      expect(code).toBe(1);
      expect(stderr).toContain('line 5: name: ');
      expect(stderr).not.toContain('line 6: ');
    });

    it('an import stores nothing in a dry run, and reports what it would store', async () => {
      const name = uniqueWord();
      const numberBefore = await service.database.models.counters.findById('item.publicId').lean();
      const { code, stdout } = await importLines([validInput({ name }), 'not json'], '--dry-run');
      expect([code, stdout]).toEqual([
        1,
        expect.stringContaining('2 lines read: 1 to be stored (dry run: nothing was)'),
      ]);
      expect(await storedAs(name)).toEqual([]);
      expect(await service.database.models.counters.findById('item.publicId').lean()).toEqual(numberBefore);
    });

    it.each(['SIGINT', 'SIGTERM'] as const)(
      'an import stops cleanly on %s, and stores each item once when it is run again',
      async (signal) => {
        const name = uniqueWord();
        const lines = ndjson(
          Array.from({ length: 6000 }, (_, index) => validInput({ name, externalId: `${name}-${String(index)}` })),
        );
        const command = new Command('import', service.env, ['-']);
        // Standard input stays open, so the command waits for more lines.
        command.child.stdin?.write(lines);
        await eventually(async () => {
          expect(await service.database.models.items.exists({ name })).not.toBeNull();
        }, STARTED_WITHIN_MS);
        command.child.kill(signal);
        const { code, stdout } = await command.waitForExit();
        expect(code).toBe(signal === 'SIGINT' ? 130 : 143);
        const stored = await storedAs(name);
        expect(stdout).toContain(`: ${String(stored.length)} stored, 0 already there`);
        expect(stdout).toContain('run the same command again');
        const again = await run(['-', '--concurrency', '4'], lines);
        expect(again.stdout).toContain(
          `${String(6000 - stored.length)} stored, ${String(stored.length)} already there`,
        );
        expect(await storedAs(name)).toHaveLength(6000);
      },
    );

    it('an import leaves a database that it has filled with all its indexes, even if it is interrupted', async () => {
      const env = freshEnvironment();
      database = await openDatabase(env);
      const schema = new SchemaRepository(database);
      await schema.createIndexes();
      const command = new Command('import', env, ['-']);
      command.child.stdin?.write(
        `${ndjson(Array.from({ length: 3000 }, (_, stock) => validInput({ stock: stock + 1 })))}\n`,
      );
      await eventually(async () => {
        expect(await database?.models.items.exists({})).not.toBeNull();
      }, STARTED_WITHIN_MS);
      expect((await schema.missingIndexes()).performance).toEqual([expect.stringContaining('searchTerms')]);
      command.child.kill('SIGINT');
      expect((await command.waitForExit()).stdout).toContain('Search index built');
      expect(await schema.missingIndexes()).toEqual({ unique: [], performance: [] });
    });

    it('an import stores the output of generate', async () => {
      const { code, stdout } = await runToExit('generate', {}, ['1200', '--seed', '8']);
      expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, 1200]);
      expect((await runToExit('generate', {}, ['1200', '--seed', '8'])).stdout).toBe(stdout);
      expect((await run(['-'], stdout)).stdout).toContain('1200 lines read: 1200 stored');
    });
  });

  describe('of reference data', () => {
    it('an import of reference data stores new entries and updates existing ones', async () => {
      const word = uniqueWord();
      const first = await importLines([{ id: 71, slug: word, title: 'Boats' }], '--kind', 'categories');
      expect(first.stdout).toContain('1 stored');
      const changed = { id: 71, slug: `${word}-2`, title: 'Ships' };
      expect((await importLines([changed], '--kind', 'categories')).stdout).toContain('1 stored, 0 already there');
      expect((await importLines([changed], '--kind', 'categories')).stdout).toContain('0 stored, 1 already there');
      expect(await service.database.models.categories.findById(71).lean()).toEqual({
        _id: 71,
        slug: `${word}-2`,
        title: 'Ships',
      });
    });

    it('an import of reference data rejects incomplete entries and a slug that another category has', async () => {
      const word = uniqueWord();
      const lines = [
        { id: 81, slug: word, title: 'One' },
        { id: 82, slug: word, title: 'Two' },
        { id: 83, slug: '12', title: 'Three' },
        { id: '84', slug: 'four', title: '' },
      ];
      const { code, stdout, stderr } = await importLines(lines, '--kind', 'categories');
      expect([code, stdout]).toEqual([1, expect.stringContaining('1 stored, 0 already there, 3 rejected')]);
      for (const reason of ['line 2: slug: Another', 'line 3: slug: A slug', 'line 4: id: ', 'title: Too short']) {
        expect(stderr).toContain(reason);
      }
      expect(await service.database.models.categories.countDocuments({ _id: { $gte: 81, $lte: 84 } })).toBe(1);
    });

    it('an import passes a renamed brand on to its items and to search', async () => {
      const [former, name] = [uniqueWord(), uniqueWord()];
      const brands = (title: string) => run(['-', '--kind', 'brands', '--format', 'csv'], `id,title\n61,${title}\n`);
      await brands(former);
      await importLines([validInput({ name, brandId: 61 }), validInput({ name, brandId: 62 })]);
      expect(await search(former)).toHaveLength(1);
      const latter = uniqueWord();
      expect((await brands(latter)).stdout).toContain('1 items have a new brandTitle');
      expect(await search(latter)).toMatchObject([{ name, brandTitle: latter }]);
      expect(await search(former)).toEqual([]);
      expect((await search(name)).map(({ brandTitle }) => brandTitle).sort()).toEqual([latter, null].sort());
    });

    it('an import passes a renamed brand on to items that other services have changed', async () => {
      const { MONGODB_URI: uri = '' } = service.env;
      const name = uniqueWord();
      const brand = (title: string) => importLines([{ id: 63, title }], '--kind', 'brands');
      await brand(uniqueWord());
      await importLines([validInput({ name, brandId: 63 })]);
      const decimal = { $set: { brandId: mongo.Decimal128.fromString('63') } };
      await service.database.models.items.collection.updateOne({ name }, decimal);
      for (const changes of [{ _id: UNREADABLE }, { brandTitle: UNREADABLE }, { brandId: UNREADABLE }])
        await insertUnreadable(uri, 'items', { ...record({ brandId: 63, searchVersion: 2 }), ...changes });
      const latter = uniqueWord();
      expect(await brand(latter)).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Error') as string });
      expect(await search(latter)).toMatchObject([{ name, brandTitle: latter }]);
    });

    it('an import passes a renamed brand on even if another service has made a new item invalid', async () => {
      const schema = new SchemaRepository(service.database);
      const name = uniqueWord();
      const brand = (title: string) => importLines([{ id: 64, title }], '--kind', 'brands');
      await brand(uniqueWord());
      const [invalid] = await store(service.database, record({ brandId: 64, searchVersion: 0 }));
      await importLines([validInput({ name, brandId: 64 })]);
      await schema.validateWrites(true);
      const price = { $set: { price: '12.50' as unknown as number } };
      await service.database.models.items.collection.updateOne({ _id: invalid._id }, price);
      const latter = uniqueWord();
      const { code, stdout } = await brand(latter);
      await schema.validateWrites(false);
      expect([code, stdout]).toEqual([0, expect.stringContaining('1 items have a new brandTitle')]);
      expect(await search(latter)).toMatchObject([{ name, brandTitle: latter }]);
    });

    it('an import passes on a new title that an earlier run failed to pass on', async () => {
      const name = uniqueWord();
      await service.database.models.conditions.insertMany([{ _id: 91, title: 'Former' }]);
      await importLines([validInput({ name, conditionId: 91 })]);
      await service.database.models.conditions.updateOne({ _id: 91 }, { title: 'Latter' });
      await importLines([{ id: 91, title: 'Latter' }], '--kind', 'conditions');
      expect(await storedAs(name)).toMatchObject([{ condition: 'Latter' }]);
    });
  });

  describe('that cannot run', () => {
    it.each([
      ['no file named', [], 'usage: import'],
      ['a file that is not there', ['/nowhere/items.ndjson'], 'Cannot read /nowhere/items.ndjson'],
      ['a folder', [tmpdir()], 'Cannot read'],
      ['an unknown option', ['-', '--fast'], 'usage: import'],
      ['a rejects file that cannot be written', ['-', '--rejects', '/nowhere/rejects'], 'Cannot write'],
    ])('an import exits with 2 given %s', async (_, args, reason) => {
      const { code, stderr } = await run(args);
      expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
    });

    it('an import exits with 2 if the database has no indexes', async () => {
      const { code, stderr } = await runToExit('import', freshEnvironment(), ['-']);
      expect([code, stderr]).toEqual([2, expect.stringContaining('npm run setup')]);
    });

    it('an import exits with 2 if MongoDB does not respond', async () => {
      const env = { MONGODB_URI: 'mongodb://127.0.0.1:9/none' };
      const { code, stderr } = await runToExit('import', env, ['-']);
      expect([code, stderr]).toEqual([2, expect.stringContaining('MongoDB did not respond')]);
    });

    it('an import that cannot run keeps the rejects of an earlier run', async () => {
      const rejects = await fileOf('earlier.ndjson', 'earlier');
      expect((await runToExit('import', freshEnvironment(), ['-', '--rejects', rejects])).code).toBe(2);
      expect(await readFile(rejects, 'utf8')).toBe('earlier');
    });

    it('an import ends on a signal while it connects', async () => {
      const command = new Command('import', { MONGODB_URI: 'mongodb://127.0.0.1:9/none' }, ['-']);
      await eventually(() => {
        expect(command.stderr).toContain('trying again');
      }, STARTED_WITHIN_MS);
      command.child.kill('SIGINT');
      const { code, stderr } = await command.waitForExit();
      expect([code, stderr]).toEqual([130, expect.not.stringContaining('did not respond')]);
    });
  });

  it('a command keeps its connection for longer than it waits for one to open', async () => {
    const { MONGODB_URI: before } = process.env;
    process.env['MONGODB_URI'] = service.env['MONGODB_URI'];
    const connectTimeoutMs = 3000;
    await withDatabase(
      () => undefined,
      connectTimeoutMs,
      async (database) => {
        const since = Date.now();
        await eventually(() => {
          expect(Date.now() - since).toBeGreaterThan(2 * connectTimeoutMs);
        });
        expect(await database.responds(10_000)).toBe(true);
      },
    );
    process.env['MONGODB_URI'] = before;
  });
});
