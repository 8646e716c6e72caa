import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { copyCheckout, ROOT } from '../support/checkout.js';
import { openQueue } from '../support/queue.js';

const run = promisify(execFile);
/** What `npm start` reads, and its build, which takes longer than everything else. */
const COPIED = /^(apps|libs|tools|dist|tsconfig.*\.json|nest-cli\.json|\.swcrc|package(-lock)?\.json)$/;

describe('npm start', () => {
  let folder: string;
  let child: ChildProcess;
  beforeAll(async () => {
    // Each of these characters has a meaning in a shell, a URL, a pattern or a config file.
    const prefix = `npm start [it's] "ü" #1 100% * $HOME-`;
    folder = await copyCheckout(
      prefix,
      (await readdir(ROOT)).filter((name) => COPIED.test(name)),
    );
  });
  afterAll(async () => {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, maxRetries: 5 });
  });

  it('npm start starts everything, prints commands that work, and stops everything', async () => {
    const { MONGODB_URI, REDIS_URL, ...env } = process.env;
    expect([MONGODB_URI, REDIS_URL]).not.toContain(undefined);
    // An empty variable counts as missing.
    const options = { cwd: folder, env: { ...env, LOG_LEVEL: '' } };
    child = spawn('npm', ['start'], { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    let output = '';
    const ready = new Promise<void>((resolve) => {
      child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
        if (output.includes('Ctrl-C stops everything')) resolve();
      });
    });
    await Promise.race([ready, exited]);
    const commands = output.match(/^ *curl .*$/gm) ?? [];
    expect(commands).toHaveLength(3);
    for (const command of commands) {
      const { stdout } = await run('bash', [
        '-c',
        command.replace('curl ', 'curl --silent --fail-with-body --retry 5 '),
      ]);
      expect(stdout).toContain('"publicId"');
    }
    const [, settings = '', listJobs = ''] = /^ *(MONGODB_URI=.*) (npm run .*)$/m.exec(output) ?? [];
    for (const [command, expected] of [
      [listJobs, '0 failed jobs\n'],
      ['npm run --silent check-data', 'every item conforms\n'],
    ] as const) {
      const { stdout } = await run('bash', ['-c', `${settings} ${command}`], { cwd: folder, env });
      expect(stdout).toBe(expected);
    }
    const [, redis = ''] = /Redis \S+ on (127\.0\.0\.1:\d+)/.exec(output) ?? [];
    expect(await settingsOf(`redis://${redis}`)).toMatchObject({ bind: '127.0.0.1', appendonly: 'yes', save: '' });
    // By default, lines of the level info are hidden.
    expect(output).not.toContain('"level":30');
    const [, api = ''] = /^Ready: (\S+)$/m.exec(output) ?? [];
    child.kill('SIGINT');
    expect(await exited).toEqual([0, null]);
    await expect(fetch(`${api}/health/live`)).rejects.toThrow('fetch failed');
    expect(output).toMatch(/^ok +Stop .*api.*worker.*Redis.*MongoDB/m);
  }, 240_000);
});

async function settingsOf(url: string): Promise<Record<string, string>> {
  const { redis, close } = openQueue({ REDIS_URL: url, QUEUE_PREFIX: 'test' });
  const settings = await Promise.all(
    ['bind', 'appendonly', 'save'].map((name) => redis.config('GET', name) as Promise<[string, string]>),
  );
  await close();
  return Object.fromEntries(settings);
}
