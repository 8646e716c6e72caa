import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SchemaRepository, type Database } from '@app/database';
import { Command, runToExit, type CommandExit } from '../support/command.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { uniqueWord, validInput } from '../support/items.js';
import { startApi, startService, type Service } from '../support/service.js';

const SEARCH_INDEX = expect.stringContaining('items.searchTerms') as string;

const itemLines = (count: number): string =>
  Array.from({ length: count }, (_, index) => `${JSON.stringify(validInput({ stock: index + 1 }))}\n`).join('');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'import-hostile-'));
});
afterAll(() => rm(folder, { recursive: true }));

const fileOf = async (name: string, content: string | Buffer): Promise<string> => {
  await writeFile(join(folder, name), content);
  return join(folder, name);
};

describe('the search index of an empty database', () => {
  let env: NodeJS.ProcessEnv;
  let database: Database;
  let schema: SchemaRepository;
  beforeEach(async () => {
    env = freshEnvironment();
    database = await openDatabase(env);
    schema = new SchemaRepository(database);
    await schema.createIndexes();
  });
  afterEach(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });

  const run = (args: string[], stdin = ''): Promise<CommandExit> => runToExit('import', env, args, stdin);
  const missing = async (): Promise<string[]> => (await schema.missingIndexes()).performance;
  const hasItems = async (): Promise<boolean> => (await database.models.items.exists({})) !== null;

  /** Starts an import; resolves once it has stored its first batches without the index and waits for more lines. */
  async function startedImport(...args: string[]): Promise<Command> {
    const command = new Command('import', env, ['-', ...args]);
    command.child.stdin?.write(itemLines(1500));
    await eventually(async () => {
      expect(await hasItems()).toBe(true);
    });
    expect(await missing()).toEqual([SEARCH_INDEX]);
    return command;
  }

  it.each([
    ['names a field twice', 'name,name\na,b\n'],
    ['is not CSV', 'na"me,"b\na,b\n'],
    ['is not UTF-8', Buffer.from([0xff, 0x2c, 0x61, 0x0a, 0x61, 0x2c, 0x62, 0x0a])],
  ])('the search index exists after an import of a CSV file whose first line %s', async (_, content) => {
    const { code, stderr } = await run([await fileOf('header.csv', content)]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('The first line of a CSV file')]);
    expect(await missing()).toEqual([]);
  });

  it('the search index exists after an error in the middle of the import', async () => {
    // Every write to `/dev/full` fails.
    const { code } = await run(['-', '--rejects', '/dev/full'], `${itemLines(1500)}not json\n`);
    expect([code, await hasItems(), await missing()]).toEqual([2, true, []]);
  });

  it('the search index exists after an import whose output is closed', async () => {
    const command = new Command('import', env, ['-']);
    command.child.stdout?.destroy();
    command.child.stderr?.destroy();
    command.child.stdin?.end(`${itemLines(1500)}not json\n`);
    expect((await command.waitForExit()).code).toBe(1);
    expect(await database.models.items.countDocuments()).toBe(1500);
    expect(await missing()).toEqual([]);
  });

  it('the search index exists after the terminal was closed, which may send SIGHUP twice', async () => {
    const command = await startedImport();
    command.child.kill('SIGHUP');
    await eventually(() => {
      expect(command.stdout).toContain('run the same command again');
    });
    command.child.kill('SIGHUP');
    expect((await command.waitForExit()).code).toBe(129);
    expect(await missing()).toEqual([]);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGQUIT', 131],
    ['SIGTERM', 143],
  ] as const)('the search index exists after an import that gets %s', async (signal, exitCode) => {
    const command = await startedImport();
    command.child.kill(signal);
    expect((await command.waitForExit()).code).toBe(exitCode);
    expect(await missing()).toEqual([]);
  });

  it('the search index exists while an import has stored no line', async () => {
    const rejects = join(folder, 'rejects.ndjson');
    const command = new Command('import', env, ['-', '--rejects', rejects]);
    command.child.stdin?.write('not json\n'.repeat(600));
    await eventually(async () => {
      expect((await stat(rejects)).size).toBeGreaterThan(0);
    });
    expect(await missing()).toEqual([]);
    command.child.stdin?.end();
    expect((await command.waitForExit()).code).toBe(1);
  });

  it('the search index is reported as missing by readiness after kill -9 of an import, and built by the next import of any kind', async () => {
    const command = await startedImport();
    command.child.kill('SIGKILL');
    await command.waitForExit();
    const { api, stop } = await startApi(env);
    await eventually(async () => {
      const { body } = await api.request<{ parts: { mongodb: string } }>('/health/ready', {});
      expect(body.parts.mongodb).toContain('run setup: items.searchTerms');
    });
    await stop();
    expect((await run(['-', '--dry-run'], itemLines(1))).code).toBe(0);
    expect(await missing()).toEqual([SEARCH_INDEX]);
    expect((await run(['-', '--kind', 'brands'], '{"id":1,"title":"One"}')).stdout).toContain('Search index built');
    expect(await missing()).toEqual([]);
  });

  it('the search index is built by setup after kill -9 of an import', async () => {
    const command = await startedImport();
    command.child.kill('SIGKILL');
    await command.waitForExit();
    expect((await runToExit('setup', env, [])).code).toBe(0);
    expect(await missing()).toEqual([]);
  });
});

describe('importing hostile input', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ worker: false });
  });
  afterAll(() => service.stop());

  const run = (args: string[], stdin = ''): Promise<CommandExit> => runToExit('import', service.env, args, stdin);
  const dryRun = (format: string, stdin: string): Promise<CommandExit> =>
    run(['-', '--dry-run', '--kind', 'brands', '--format', format], stdin);

  it.each([
    ['a quote inside a cell', '1,32" TV', 0, '240001 lines read: 240001 to be stored'],
    ['a quote that is never closed', '1,"TV', 1, '240001 lines read: 240000 to be stored'],
  ])(
    'import reads a megabyte of short CSV lines after %s within seconds',
    async (_, line, exitCode, summary) => {
      const { code, stdout } = await dryRun('csv', `id,title\n${line}\n${'7,a\n'.repeat(240_000)}`);
      expect([code, stdout]).toEqual([exitCode, expect.stringContaining(summary)]);
    },
    40_000,
  );

  it('import stores the text of a cell that contains a quote', async () => {
    const { stdout } = await run(['-', '--kind', 'brands', '--format', 'csv'], 'id,title\n71,32" TV\n72,plain\n');
    expect(stdout).toContain('2 stored');
    expect(await service.database.models.brands.findById(71).lean()).toEqual({ _id: 71, title: '32" TV' });
  });

  it('import names the line of a quote that is never closed, and imports the other lines', async () => {
    const { code, stdout, stderr } = await dryRun('csv', 'id,title\n1,one\n2,"two\n3,three\n4,"four"\n5,five\n');
    expect([code, stdout]).toEqual([1, expect.stringContaining('5 lines read: 4 to be stored')]);
    expect(stderr).toContain('line 3: Quoted cell continues to line 5: Text after a closing quote');
  });

  it('import rejects a CSV file whose lines end with CR alone', async () => {
    const { code, stderr } = await dryRun('csv', 'id,title\r1,one\r2,two\r');
    expect([code, stderr]).toEqual([2, expect.stringContaining('Carriage return')]);
  });

  it('import does not overwrite its input file with rejected lines', async () => {
    const content = JSON.stringify({ id: 81, title: uniqueWord() });
    const file = await fileOf('both.ndjson', content);
    const { code, stderr } = await run([file, '--kind', 'brands', '--rejects', file]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('it is the file that is imported')]);
    expect(await readFile(file, 'utf8')).toBe(content);
  });
});
