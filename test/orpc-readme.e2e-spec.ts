import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { validInput } from './support/items.js';
import { startService, type Service } from './support/service.js';

const ROOT = join(__dirname, '..');
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
const OPTIONS = {
  strict: true,
  skipLibCheck: true,
  target: 'es2024',
  module: 'nodenext',
  types: ['node'],
  rootDir: '.',
};
/** Whether docs/clients.md says to copy the file. */
const withoutTests = (path: string): boolean => !path.endsWith('.spec.ts');

const run = promisify(execFile);

describe('the typed client of docs/clients.md', () => {
  let service: Service;
  let folder: string;
  beforeAll(async () => {
    service = await startService();
    // Inside the checkout, so that its packages are found.
    await mkdir(join(ROOT, '.local'), { recursive: true });
    folder = await mkdtemp(join(ROOT, '.local', 'readme-'));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
    await service.stop();
  });

  it('the typed client of docs/clients.md compiles next to a copy of the contracts and works as described', async () => {
    const page = await readFile(join(ROOT, 'docs', 'clients.md'), 'utf8');
    const [section = ''] = /^## oRPC\n[^]*?(?=^## )/m.exec(page) ?? [];
    const codes = [...section.matchAll(/^```ts\n([^]*?)^```/gm)].map(([, code = '']) => code);
    expect(codes).toHaveLength(2);
    await cp(join(ROOT, 'libs', 'contracts', 'src'), join(folder, 'contracts'), {
      recursive: true,
      filter: withoutTests,
    });
    for (const [index, code] of codes.entries())
      await writeFile(
        join(folder, `client${String(index)}.ts`),
        code.replace('http://localhost:3000', service.api.base),
      );
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS }));
    const names = Array.from({ length: 60 }, (_, n) => `Dish ${String(n)}`);
    for (const name of names) await service.api.create(validInput({ name }));
    await service.api.create(validInput({ name: 'Crème brûlée dishes', price: 12.5 }));

    await run(process.execPath, [TSC, '--project', folder]);
    const outputOf = async (file: string): Promise<string> =>
      (await run(process.execPath, [join(folder, file)], { env: {} })).stdout;
    expect(await outputOf('client0.js')).toBe('Crème brûlée dishes 12.50\nNOT_FOUND No such item\n');
    expect((await outputOf('client1.js')).split('\n')).toEqual(['Crème brûlée dishes', ...names.reverse(), '']);
    // 61 creates and a compilation, which take minutes on a busy machine.
  }, 180_000);
});
