import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(__dirname, '..');
const RECORD = 'node_modules/.package-lock.json';
/** Takes the place of npm: records the packages as npm does, without any. */
const NPM = `#!/bin/sh\nmkdir -p node_modules && cp package-lock.json ${RECORD}\n`;
const WITHIN_MS = 20_000;

describe('the installation of dependencies by a tool', () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'install-'));
    for (const name of ['tools', 'package.json', 'package-lock.json'])
      await cp(join(ROOT, name), join(folder, name), { recursive: true });
    await mkdir(join(folder, 'bin'));
    await writeFile(join(folder, 'bin', 'npm'), NPM, { mode: 0o755 });
    path = join(folder, 'bin') + delimiter + String(process.env['PATH']);
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  const install = (): Promise<{ stderr: string }> =>
    run(process.execPath, ['tools/checkout/install.mjs'], { cwd: folder, env: { PATH: path }, timeout: WITHIN_MS });

  it('installs once', async () => {
    expect((await install()).stderr).toBe('Install dependencies (npm ci)\n');
    expect((await install()).stderr).toBe('');
  });

  it('repeats an installation whose record is incomplete', async () => {
    await install();
    const record = await readFile(join(folder, RECORD), 'utf8');
    await writeFile(join(folder, RECORD), record.slice(0, 5000));
    await install();
    expect(await readFile(join(folder, RECORD), 'utf8')).toBe(record);
  });
});
