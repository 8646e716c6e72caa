import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { copyCheckout } from '../support/checkout.js';

const run = promisify(execFile);
const URL_OF_RUN = 'http://localhost:1';
/** Takes the lock of the checkout and keeps it, or prints the URL of the run that has it. */
const LOCK = `
  import { tryRunLock } from './tools/processes/lock.mjs';
  const launcher = { removeAtEnd: () => {}, steps: { print: () => {} } };
  const { holder, record } = await tryRunLock(launcher);
  record?.({ url: '${URL_OF_RUN}' });
  console.log(holder ? holder.url : 'locked');
  if (!holder && process.argv[1] === 'keep') setInterval(() => {}, 1000); else process.exit();
`;
const ARGUMENTS = ['--input-type=module', '--eval', LOCK];
const describeWithProc = existsSync('/proc/self/stat') ? describe : describe.skip;

describeWithProc('the lock of a run in a checkout (skipped unless there is /proc)', () => {
  it('a suspended run keeps its lock, and a killed one does not', async () => {
    const folder = await copyCheckout('lock-', ['tools']);
    const first = spawn(process.execPath, [...ARGUMENTS, 'keep'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await once(first.stdout, 'data');
      first.kill('SIGSTOP');
      // As if it had been suspended for a minute.
      const past = new Date(Date.now() - 60_000);
      await utimes(join(folder, '.local', 'npm-start.json.lock'), past, past);
      const second = async (): Promise<string> => (await run(process.execPath, ARGUMENTS, { cwd: folder })).stdout;
      expect(await second()).toBe(`${URL_OF_RUN}\n`);
      first.kill('SIGKILL');
      await once(first, 'exit');
      expect(await second()).toBe('locked\n');
    } finally {
      first.kill('SIGKILL');
      await rm(folder, { recursive: true });
    }
  });
});
