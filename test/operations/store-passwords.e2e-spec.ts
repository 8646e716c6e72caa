import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mongo } from 'mongoose';
import { runToExit, type CommandExit } from '../support/command.js';
import { createMongodb, removeDatabaseServers, type DatabaseServer } from '../support/database-servers.js';

const isRoot = process.getuid?.() === 0;
const describeAsRoot = isRoot ? describe : describe.skip;

describe('passwords of the databases', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'store-passwords-'));
  });
  afterEach(async () => {
    await removeDatabaseServers();
    await rm(folder, { recursive: true });
  });

  const content = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');

  it('passwords are not created in a folder that does not exist, which store-passwords names in one line', async () => {
    const folders = ['service', 'admin'].map((name) => join(folder, name));
    const { code, stdout, stderr } = await runToExit('store-passwords', {}, folders);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^Cannot write \S+\/admin\/mongodb-key: ENOENT[^\n]+\n$/);
  });

  describeAsRoot('created by store-passwords (skipped unless run as root, which gives files to other users)', () => {
    const create = async (): Promise<Record<string, string>> => {
      const folders = [join(folder, 'service'), join(folder, 'admin')];
      for (const each of folders) await mkdir(each, { recursive: true });
      expect(await runToExit('store-passwords', {}, folders)).toMatchObject({ code: 0, stderr: '' });
      const names = (await readdir(folder, { recursive: true })).filter((name) => name.includes('/')).sort();
      return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await content(name)] as const)));
    };

    it('passwords are random, and stay the same when store-passwords runs again', async () => {
      const files = await create();
      expect(Object.keys(files)).toEqual([
        'admin/mongodb-admin-uri',
        'admin/mongodb-key',
        'service/mongodb-uri',
        'service/redis-url',
        'service/redis.conf',
      ]);
      expect(await create()).toEqual(files);
      const passwords = Object.values(files).flatMap((text) => text.match(/[0-9a-f]{64}/g) ?? []);
      expect(passwords).toHaveLength(4);
      expect(new Set(passwords).size).toBe(3);
      expect(files['service/redis.conf']).toBe(
        `requirepass ${String(files['service/redis-url']?.match(/[0-9a-f]{64}/)?.[0])}\n`,
      );
    });

    it('passwords can be read only by those who use them', async () => {
      await create();
      const ownerOf = async (name: string): Promise<unknown> => {
        const { uid, mode } = await stat(join(folder, name));
        return [uid, (mode & 0o777).toString(8)];
      };
      expect(await ownerOf('admin/mongodb-key')).toEqual([999, '400']);
      expect(await ownerOf('service/mongodb-uri')).toEqual([1000, '400']);
      expect(await ownerOf('admin/mongodb-admin-uri')).toEqual([1000, '400']);
      expect(await ownerOf('service/redis-url')).toEqual([1000, '400']);
    });

    it('passwords are all created again after an interrupted run', async () => {
      const files = await create();
      await rm(join(folder, 'service', 'mongodb-uri'));
      const again = await create();
      expect(Object.keys(again)).toEqual(Object.keys(files));
      for (const [name, text] of Object.entries(files)) expect(again[name]).not.toBe(text);
    });
  });

  describe('required by a new MongoDB', () => {
    let mongod: DatabaseServer;
    const uriOf = (user: string): string =>
      `mongodb://${user}:secret-of-${user}@127.0.0.1:${String(mongod.port)}/shop?replicaSet=rs0&authSource=admin`;
    const withClient = async <T>(uri: string, use: (client: mongo.MongoClient) => Promise<T>): Promise<T> => {
      const client = new mongo.MongoClient(uri);
      return use(client).finally(() => client.close());
    };
    const runSetup = (): Promise<CommandExit> => {
      const args = ['--init-replica-set', `rs0/127.0.0.1:${String(mongod.port)}`];
      const env = { MONGODB_URI: uriOf('service') };
      return runToExit('setup', env, [...args, '--admin-uri-file', join(folder, 'admin-uri')]);
    };
    const setUp = async (): Promise<void> => {
      const exit = await runSetup();
      expect(exit).toMatchObject({ code: 0, stderr: '' });
      expect(exit.stdout).not.toContain('secret-of');
    };

    beforeEach(async () => {
      const key = join(folder, 'key');
      await writeFile(key, 'a'.repeat(64), { mode: 0o400 });
      mongod = await createMongodb('--keyFile', key);
      mongod.start();
      await writeFile(join(folder, 'admin-uri'), `${uriOf('admin')}\n`);
    });

    it('passwords that a new MongoDB requires are set by setup, which can be repeated', async () => {
      await setUp();
      await setUp();
      const reading = (uri: string, database?: string): Promise<unknown> =>
        withClient(uri, (client) =>
          client
            .db(database)
            .collection('secrets')
            .findOne({ _id: 'idempotency' as never }),
        );
      expect(await reading(uriOf('service'))).not.toBeNull();
      await expect(reading(uriOf('service'), 'other')).rejects.toThrow(/not authorized/);
      await expect(reading(uriOf('service').replace('service:secret-of-service@', ''))).rejects.toThrow(
        /requires auth/,
      );
      const databases = await withClient(uriOf('admin'), (client) => client.db().admin().listDatabases());
      expect(databases.databases.map(({ name }) => name)).toContain('shop');
    });

    it('passwords are not changed by setup with another administrator, which says so', async () => {
      await setUp();
      await writeFile(join(folder, 'admin-uri'), uriOf('admin').replace('secret-of-admin', 'another'));
      const stderr = "MongoDB rejects the administrator's name or password\n";
      expect(await runSetup()).toMatchObject({ code: 2, stderr });
    });
  });
});
