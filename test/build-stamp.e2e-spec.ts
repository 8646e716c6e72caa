import { execFile } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { copyCheckout } from './support/checkout.js';

const run = promisify(execFile);
/** Builds if needed, with a build that only says that it runs. */
const BUILD = `
  import { mkdirSync } from 'node:fs';
  import { buildIfNeeded } from './tools/checkout/build.mjs';
  const run = () => { mkdirSync('dist', { recursive: true }); console.log('built'); };
  await buildIfNeeded({ run, steps: { run: (name, step) => step() } });
`;

describe('the build by a tool', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await copyCheckout('build-', ['tools']);
    for (const name of ['apps', 'libs']) await mkdir(join(folder, name));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  const build = async (): Promise<string> =>
    (await run(process.execPath, ['--input-type=module', '--eval', BUILD], { cwd: folder })).stdout;

  it('a tool builds only after a source has changed', async () => {
    expect(await build()).toBe('built\n');
    expect(await build()).toBe('');
    await writeFile(join(folder, 'apps', 'import.ts'), '1');
    expect(await build()).toBe('built\n');
    await writeFile(join(folder, 'apps', 'import.spec.ts'), '1');
    expect(await build()).toBe('');
  });

  it('the build by a tool ignores the files of editors', async () => {
    await build();
    await writeFile(join(folder, 'apps', '.import.ts.swp.ts'), '1');
    // The lock of Emacs on a file with unsaved changes.
    await symlink('me@machine.1234:1', join(folder, 'apps', '.#import.ts'));
    expect(await build()).toBe('');
  });
});
