import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { validInput } from './support/items.js';
import { startService, type Service } from './support/service.js';

const run = promisify(execFile);
const ROOT = join(__dirname, '..');
const MODULES = join(ROOT, 'node_modules');
const TSC = join(MODULES, 'typescript', 'bin', 'tsc');

const IMPORT = `import { ApiError, ItemListingClient } from 'item-listing-client';`;
const REQUIRE = `const { ApiError, ItemListingClient } = require('item-listing-client');`;

const PROGRAM = `
async function main() {
  const { items } = new ItemListingClient({ baseUrl: process.env.BASE ?? '' });
  const input = ${JSON.stringify(validInput())};
  const created = [await items.create(input), await items.create(input)];
  const again = await items.create(input, { idempotencyKey: process.env.KEY ?? '' });
  const same = await items.create(input, { idempotencyKey: process.env.KEY ?? '' });
  const walked = [];
  for await (const { id } of items.walk({ pageSize: 1 })) walked.push(id);
  const { id } = await items.getById(again.id);
  const error = await items.getById('unknown').catch((thrown) => thrown);
  console.log(JSON.stringify({
    newest: walked.slice(0, 3),
    expected: [again.id, ...created.map((item) => item.id).reverse()],
    isSame: same.id === again.id && id === again.id,
    code: error instanceof ApiError ? error.code : 'no ApiError',
  }));
}
main();
`;

/** `@ts-expect-error` marks what must not compile; TypeScript rejects a mark without an error too. */
const TYPED = `
import type { Item } from 'item-listing-client';
export const title = (item: Item): string | null => item.brandTitle;
// @ts-expect-error: it may be null
export const text = (item: Item): string => item.brandTitle;
// @ts-expect-error: a categoryId is sent as a string
void ((client: ItemListingClient) => client.items.getAll({ categoryId: 7 }));
// @ts-expect-error: a create needs more than a name
void ((client: ItemListingClient) => client.items.create({ name: 'Red city bike' }));
`;

/** Checks the types of the package, but not those of TypeScript itself, which would take longer. */
const COMPILER_OPTIONS = {
  target: 'es2022',
  lib: ['es2022', 'dom'],
  module: 'node16',
  types: ['node'],
  strict: true,
  skipDefaultLibCheck: true,
};

describe('the client package, installed from its tarball into an empty project', () => {
  let service: Service;
  let folder: string;
  beforeAll(async () => {
    [service, folder] = await Promise.all([startService(), mkdtemp(join(tmpdir(), 'client-package-'))]);
    // Packs a copy, because packing builds into the folder, and other tests may read it at the same time.
    await cp(join(ROOT, 'libs', 'client'), join(folder, 'libs', 'client'), { recursive: true });
    await cp(join(ROOT, 'tsconfig.json'), join(folder, 'tsconfig.json'));
    await symlink(MODULES, join(folder, 'libs', 'node_modules'));
    await run(process.execPath, [join(folder, 'libs', 'client', 'build.mjs')]);
    const { stdout } = await run('npm', ['pack', './libs/client', '--silent'], { cwd: folder });
    await rm(join(folder, 'tsconfig.json'));
    await writeFile(join(folder, 'package.json'), '{"private":true}');
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${stdout.trim()}`], { cwd: folder });
  });
  afterAll(async () => {
    await service.stop();
    await rm(folder, { recursive: true });
  });

  const expectProgramToRun = async (file: string): Promise<void> => {
    const env = { PATH: process.env['PATH'], BASE: service.api.base, KEY: file };
    const { stdout } = await run(process.execPath, [join(folder, file)], { env });
    const { newest, expected, ...rest } = JSON.parse(stdout) as Record<string, unknown>;
    expect(newest).toEqual(expected);
    expect(rest).toEqual({ isSame: true, code: 'NOT_FOUND' });
  };

  it('the client package contains its own files and depends on no package', async () => {
    const installed = join(folder, 'node_modules', 'item-listing-client');
    const { dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    expect(dependencies).toBeUndefined();
    expect((await readdir(installed)).sort()).toEqual(['README.md', 'dist', 'package.json']);
    expect(await readdir(join(folder, 'node_modules'))).toEqual(['.package-lock.json', 'item-listing-client']);
  });

  it.each([
    ['module.mjs', IMPORT],
    ['common.cjs', REQUIRE],
  ])('the client package runs in JavaScript from %s', async (file, header) => {
    await writeFile(join(folder, file), header + PROGRAM);
    await expectProgramToRun(file);
  });

  it.each([
    ['libs/client/README.md', /```js\n([^]*?)```/],
    ['docs/clients.md', /```ts\n([^]*?item-listing-client[^]*?)```/],
  ])('the client package runs the example of %s', async (document, block) => {
    const [, code = ''] = block.exec(await readFile(join(ROOT, document), 'utf8')) ?? [];
    expect(code).toContain('item-listing-client');
    await writeFile(join(folder, 'example.mjs'), code.replace('http://localhost:3000', service.api.base));
    const { stdout } = await run(process.execPath, [join(folder, 'example.mjs')]);
    expect(stdout).toContain('Red city bike 149.5\n');
  });

  it('the client package compiles in strict TypeScript and runs, as a module and as CommonJS', async () => {
    const files = ['typed-module.mts', 'typed-common.cts'];
    const program = PROGRAM.replaceAll('[]', '[] as string[]').replace('(thrown)', '(thrown: ApiError)');
    for (const file of files) await writeFile(join(folder, file), IMPORT + program + TYPED);
    const compilerOptions = { ...COMPILER_OPTIONS, typeRoots: [join(MODULES, '@types')] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ files, compilerOptions }));
    const compilerOutput = await run(process.execPath, [TSC, '--project', folder]).then(
      () => '',
      (error: unknown) => (error as { stdout: string }).stdout,
    );
    expect(compilerOutput).toBe('');
    for (const file of files) await expectProgramToRun(file.replace(/ts$/, 'js'));
    // On a busy machine, the compiler takes a minute.
  }, 180_000);
});
