import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runToEnd, type Ended } from './support/command.js';
import { uniqueWord } from './support/items.js';
import { startService, type Service } from './support/service.js';

// Each test starts several processes.
jest.setTimeout(60_000);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'import-hostile-'));
});
afterAll(() => rm(folder, { recursive: true }));

const fileOf = async (name: string, content: string | Buffer): Promise<string> => {
  await writeFile(join(folder, name), content);
  return join(folder, name);
};

describe('importing hostile input', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ worker: false });
  });
  afterAll(() => service.stop());

  const run = (args: string[], stdin = ''): Promise<Ended> => runToEnd('import', service.env, args, stdin);
  const dryRun = (format: string, stdin: string): Promise<Ended> =>
    run(['-', '--dry-run', '--kind', 'brands', '--format', format], stdin);

  it.each([
    ['a quote inside a cell', '1,32" TV', 0, '240001 lines read: 240001 to be stored'],
    ['a quote that is never closed', '1,"TV', 1, '240001 lines read: 240000 to be stored'],
  ])(
    'reads a megabyte of short lines of CSV after %s in seconds',
    async (_, line, exitCode, summary) => {
      const { code, stdout } = await dryRun('csv', `id,title\n${line}\n${'7,a\n'.repeat(240_000)}`);
      expect([code, stdout]).toEqual([exitCode, expect.stringContaining(summary)]);
    },
    40_000,
  );

  it('stores the text of a cell with a quote in it', async () => {
    const { stdout } = await run(['-', '--kind', 'brands', '--format', 'csv'], 'id,title\n71,32" TV\n72,plain\n');
    expect(stdout).toContain('2 stored');
    expect(await service.database.models.brands.findById(71).lean()).toEqual({ _id: 71, title: '32" TV' });
  });

  it('names the line of a quote that is never closed, and imports the others', async () => {
    const { code, stdout, stderr } = await dryRun('csv', 'id,title\n1,one\n2,"two\n3,three\n4,"four"\n5,five\n');
    expect([code, stdout]).toEqual([1, expect.stringContaining('5 lines read: 4 to be stored')]);
    expect(stderr).toContain('line 3: Quoted cell continues to line 5: Text after a closing quote');
  });

  it('refuses a CSV file whose lines end with CR alone', async () => {
    const { code, stderr } = await dryRun('csv', 'id,title\r1,one\r2,two\r');
    expect([code, stderr]).toEqual([2, expect.stringContaining('Carriage return')]);
  });

  it('does not overwrite the file that it reads with rejected lines', async () => {
    const content = JSON.stringify({ id: 81, title: uniqueWord() });
    const file = await fileOf('both.ndjson', content);
    const { code, stderr } = await run([file, '--kind', 'brands', '--rejects', file]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('it is the file that is imported')]);
    expect(await readFile(file, 'utf8')).toBe(content);
  });
});
