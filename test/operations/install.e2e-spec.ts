import { execFile } from 'node:child_process';
import { cp, lstat, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..');
const RECORD = 'node_modules/.package-lock.json';
/** Takes the place of npm: records the packages as npm does, without any. */
const NPM = `#!/bin/sh\n[ -z "$NPM_FAILS" ] && mkdir -p node_modules && cp package-lock.json ${RECORD}\n`;
const WITHIN_MS = 60_000;

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

  const install = (env: NodeJS.ProcessEnv = {}): Promise<{ stderr: string }> =>
    run(process.execPath, ['tools/checkout/install.mjs'], {
      cwd: folder,
      env: { PATH: path, ...env },
      timeout: WITHIN_MS,
    });
  const isLocked = (): Promise<boolean> =>
    lstat(join(folder, '.local', 'install.lock')).then(
      () => true,
      () => false,
    );

  it('a tool installs dependencies once', async () => {
    expect((await install()).stderr).toBe('Install dependencies (npm ci)\n');
    expect((await install()).stderr).toBe('');
    expect(await isLocked()).toBe(false);
  });

  it('a tool repeats an installation whose record is incomplete', async () => {
    await install();
    const record = await readFile(join(folder, RECORD), 'utf8');
    await writeFile(join(folder, RECORD), record.slice(0, 5000));
    await install();
    expect(await readFile(join(folder, RECORD), 'utf8')).toBe(record);
  });

  it.each([
    ['repeats an installation that lacks an optional package for this platform', {}, true],
    ['accepts an installation without an optional package for another operating system', { os: ['none'] }, false],
    ['accepts an installation without an optional package for another processor', { cpu: ['none'] }, false],
    [
      'accepts an installation without an optional package that is not for this one',
      { os: [`!${process.platform}`] },
      false,
    ],
    ['accepts an installation without an optional package for another libc', { libc: ['none'] }, false],
    ['accepts an installation without an optional package for any platform', { os: undefined, cpu: undefined }, false],
  ])('a tool %s', async (_, platform, isRepeated) => {
    await install();
    const lock = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, object>;
    };
    const native = { version: '1.0.0', optional: true, os: [process.platform], cpu: [process.arch], ...platform };
    lock.packages['node_modules/native'] = native;
    await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
    expect((await install()).stderr).toBe(isRepeated ? 'Install dependencies (npm ci)\n' : '');
  });

  it('a tool does not wait for a lock that names no running process', async () => {
    await mkdir(join(folder, '.local'));
    await writeFile(join(folder, '.local', 'install.lock'), '');
    expect((await install()).stderr).toBe('Install dependencies (npm ci)\n');
    await rm(join(folder, RECORD));
    await symlink('999999999', join(folder, '.local', 'install.lock'));
    expect((await install()).stderr).toBe('Install dependencies (npm ci)\n');
  });

  it('a tool leaves no lock if npm fails', async () => {
    await expect(install({ NPM_FAILS: 'yes' })).rejects.toMatchObject({ code: 2 });
    expect(await isLocked()).toBe(false);
  });

  it('a tool prints one line and leaves no lock if npm is not on PATH', async () => {
    await expect(install({ PATH: folder })).rejects.toMatchObject({
      code: 2,
      stderr: 'Install dependencies (npm ci)\nspawn npm ENOENT\n',
    });
    expect(await isLocked()).toBe(false);
  });

  it('a tool prints one line if it cannot write to the checkout', async () => {
    await writeFile(join(folder, '.local'), '');
    await expect(install()).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^EEXIST: [^\n]*\.local'\n$/) as string,
    });
  });
});
