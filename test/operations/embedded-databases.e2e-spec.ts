import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..');
/** Finds a program that two sources have, of which the first is unreachable. Prints its path. */
const FIND = `
  import { writeFileSync } from 'node:fs';
  import { findBinary } from './tools/embedded/find-binary.mjs';
  import { launch } from './tools/processes/launcher.mjs';
  import { Steps } from './tools/steps.mjs';

  const first = { title: 'from the first source', folder: 'first', fetch: () => Promise.reject(new Error('unreachable')) };
  const fetch = (launcher, folder, name) => writeFileSync(folder + '/' + name, '#!/bin/sh\\necho version 2.0.0\\n');
  const second = { title: 'from the second source', folder: 'second', fetch };
  const database = { title: 'Program', name: 'program', programs: [], variable: 'PROGRAM_RELEASE' };
  const version = { versionPattern: /version (\\S+)/, minimum: '1.0.0' };
  await launch(new Steps(process.stderr), async (launcher) => {
    console.log((await findBinary(launcher, { ...database, ...version, sources: [first, second] })).path);
  });
`;

describe('finding the program of a database', () => {
  let cache: string;
  beforeEach(async () => {
    cache = await mkdtemp(join(tmpdir(), 'cache-'));
  });
  afterEach(async () => {
    await rm(cache, { recursive: true });
  });

  const find = (): Promise<{ stdout: string; stderr: string }> =>
    run(process.execPath, ['--input-type=module', '--eval', FIND], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], XDG_CACHE_HOME: cache },
    });

  it('the program of a database is fetched from another source if its copy is damaged and its own unreachable', async () => {
    const folder = join(cache, 'item-listing-service', `${process.platform}-${process.arch}`);
    await mkdir(join(folder, 'first'), { recursive: true });
    await writeFile(join(folder, 'first', 'program'), 'damaged', { mode: 0o755 });
    const path = join(folder, 'second', 'program');
    const fetched = await find();
    expect([fetched.stdout, fetched.stderr]).toEqual([`${path}\n`, expect.stringContaining('from the second source')]);
    const cached = await find();
    expect([cached.stdout, cached.stderr]).toEqual([
      `${path}\n`,
      expect.stringMatching(/^ok +program in the cache .*\n$/),
    ]);
  });

  it('the setting of the cache of programs is named if the folder of the cache cannot be created', async () => {
    await writeFile(join(cache, 'item-listing-service'), '');
    await expect(find()).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(': set XDG_CACHE_HOME to another folder\n') as string,
    });
  });
});

describe('starting databases', () => {
  it('tools/databases.mjs prints one line if the folder of the databases cannot be created', async () => {
    const started = run(process.execPath, ['tools/databases.mjs'], { cwd: ROOT, env: { TMPDIR: '/dev/null' } });
    await expect(started).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^ENOTDIR: [^\n]*\n$/) as string,
    });
  });
});
