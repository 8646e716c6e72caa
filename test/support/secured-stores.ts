import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { Redis } from 'ioredis';
import { mongo } from 'mongoose';
import { DatabaseServer, binary } from './database-servers.js';
import { eventually } from './eventually.js';

const run = promisify(execFile);
const DOCUMENT = join(__dirname, '..', '..', 'docs', 'securing.md');
/** How long a busy machine may take to start a store. */
const START_WITHIN_MS = 60_000;
const FOLDER = '/etc/item-listing/tls';
const REDIS_ADMIN = 'REDIS-ADMIN-PASSWORD';
const MONGODB_ADMIN = 'MONGODB-ADMIN-PASSWORD';
const PASSWORDS = [REDIS_ADMIN, 'REDIS-PASSWORD', MONGODB_ADMIN, 'MONGODB-PASSWORD', 'MONGODB-SETUP-PASSWORD'];

/** Returns whether the Redis of the tests is built with TLS. One without it does not know the setting. */
export function redisHasTls(): boolean {
  const { stderr } = spawnSync(binary('REDIS_SERVER_BIN'), ['--tls-port', '0', '--port', 'none'], { encoding: 'utf8' });
  return !stderr.includes('tls-port');
}

/** MongoDB and Redis with TLS and users, set up by the commands of docs/securing.md in a temporary folder. */
export class SecuredStores {
  private constructor(
    readonly folder: string,
    readonly redis: DatabaseServer,
    readonly mongod: DatabaseServer,
    private readonly passwords: ReadonlyMap<string, string>,
  ) {}

  static async start(): Promise<SecuredStores> {
    const folder = await mkdtemp(join(tmpdir(), 'secured-stores-'));
    const redis = await DatabaseServer.create((_port, own) => ({
      url: 'rediss://localhost',
      command: [binary('REDIS_SERVER_BIN'), join(folder, 'redis.conf'), '--bind', '127.0.0.1', '--dir', own],
    }));
    const mongod = await DatabaseServer.create((port, own) => ({
      url: `mongodb://localhost:${String(port)}`,
      command: [
        binary('MONGOD_BIN'),
        ...['--config', join(folder, 'mongod.conf'), '--bind_ip', '127.0.0.1', '--port', String(port), '--dbpath', own],
        ...['--nounixsocket', '--wiredTigerCacheSizeGB', '0.25', '--oplogSize', '64'],
      ],
    }));
    const stores = new SecuredStores(folder, redis, mongod, new Map(PASSWORDS.map((word) => [word, randomUUID()])));
    await stores.setUp();
    return stores;
  }

  /** The passwords of all users. */
  get secrets(): string[] {
    return [...this.passwords.values()];
  }

  /** Returns the content of a file that the commands have written, such as `redis-url`. */
  async read(name: string): Promise<string> {
    return (await readFile(join(this.folder, name), 'utf8')).trim();
  }

  /** The variables of a process, which reads its secrets from files. */
  get env(): NodeJS.ProcessEnv {
    const variables = this.example('export NODE_EXTRA_CA_CERTS').matchAll(/(\w+)=(\S+)/g);
    return Object.fromEntries([...variables].map(([, name = '', value = '']) => [name, value]));
  }

  get setupEnv(): NodeJS.ProcessEnv {
    const [, value] = /MONGODB_URI_FILE=(\S+)/.exec(this.example('MONGODB_URI_FILE=')) ?? [];
    return { MONGODB_URI_FILE: value };
  }

  /** Runs a command of Redis as its administrator. */
  async asRedisAdmin(...command: [string, ...string[]]): Promise<unknown> {
    return this.runOnRedis(this.redis.port, ...command);
  }

  private async runOnRedis(port: number, ...[name, ...args]: [string, ...string[]]): Promise<unknown> {
    const [username, password] = ['admin', this.passwords.get(REDIS_ADMIN) ?? ''];
    const [host, tls] = ['localhost', { rejectUnauthorized: false }];
    const since = Date.now();
    const redis = new Redis({
      host,
      port,
      tls,
      username,
      password,
      // It may still be starting.
      retryStrategy: () => (Date.now() - since < START_WITHIN_MS ? 50 : null),
      maxRetriesPerRequest: null,
    });
    redis.on('error', () => undefined);
    try {
      return await redis.call(name, ...args);
    } finally {
      redis.disconnect();
    }
  }

  /** Runs a command of MongoDB as its administrator, by default in the service's database. */
  async asMongodbAdmin(command: mongo.Document, database?: string): Promise<void> {
    await this.runOnMongodb(this.adminUri, [command], database);
  }

  /** Changes the password of the service's user of MongoDB. */
  async setPassword(pwd: string): Promise<void> {
    await this.asMongodbAdmin({ updateUser: 'item-listing', pwd });
  }

  /** Replaces the certificate of both stores while they run. MongoDB keeps its certificate if the new one has expired. */
  async useCertificate(days: number, names: string): Promise<void> {
    await writeFile(join(this.folder, 'names.txt'), `subjectAltName = ${names}`);
    const signing =
      this.example('openssl req')
        .split('\n')
        .find((line) => line.includes('x509 -req')) ?? '';
    const signed = signing.replace('-days 365', `-days ${String(days)}`);
    await this.bash(`${signed}\ncat server.crt server.key > server.new && mv server.new server.pem`);
    await this.bash(this.example('install'));
    await this.asRedisAdmin('CONFIG', 'SET', 'tls-cert-file', join(this.folder, 'redis.pem'));
    if (days > 0) await this.asMongodbAdmin({ rotateCertificates: 1 }, 'admin');
  }

  /** Starts a Sentinel of Redis, with TLS and a password of its own. Returns the `REDIS_URL` that uses it. */
  async startSentinel(): Promise<string> {
    const password = randomUUID();
    const port = await this.startAnother('--sentinel', [
      ...['tls-replication yes', `requirepass ${password}`],
      `sentinel monitor main 127.0.0.1 ${String(this.redis.port)} 1`,
      ...['sentinel auth-user main admin', `sentinel auth-pass main ${this.passwords.get(REDIS_ADMIN) ?? ''}`],
    ]);
    const { username, password: own } = new URL(await this.read('redis-url'));
    return `rediss+sentinel://${username}:${own}@localhost:${String(port)}/main?sentinelPassword=${password}`;
  }

  /**
   * Starts a Redis Cluster of one node with the same users, which is known by its name only. Returns its `REDIS_URL`.
   * From then on, the certificate has no addresses.
   */
  async startCluster(): Promise<string> {
    await this.useCertificate(365, 'DNS:localhost');
    const users = this.example('bind')
      .split('\n')
      .filter((line) => line.startsWith('user '));
    const port = await this.startAnother('--cluster-enabled', [
      ...['tls-cluster yes', 'cluster-announce-hostname localhost', 'cluster-preferred-endpoint-type hostname'],
      ...users,
    ]);
    await this.runOnRedis(port, 'CLUSTER', 'ADDSLOTS', ...Array.from({ length: 16_384 }, (_, slot) => String(slot)));
    await this.runOnRedis(port, 'ACL', 'SETUSER', 'item-listing', '+cluster|slots', '+cluster|info');
    const url = new URL(await this.read('redis-url'));
    return `rediss+cluster://${url.username}:${url.password}@localhost:${String(port)}`;
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  private async setUp(): Promise<void> {
    for (const first of ['openssl req', 'install', 'openssl rand']) await this.bash(this.example(first));
    await writeFile(join(this.folder, 'redis.conf'), this.example('bind'));
    await writeFile(join(this.folder, 'mongod.conf'), this.example('net:'));
    this.redis.start();
    this.mongod.start();
    await this.runMongosh(this.uriIn("mongosh 'mongodb://localhost/admin"), 'rs.initiate');
    await this.runMongosh(this.adminUri, "db.createUser({ user: 'item-listing'");
    await this.bash(this.example('umask'));
    await this.asRedisAdmin('PING');
  }

  /** Starts a server with the certificate of Redis and these settings. Returns its port. */
  private async startAnother(mode: string, settings: string[]): Promise<number> {
    const server = await DatabaseServer.create((_port, own) => ({
      url: 'rediss://localhost',
      command: [binary('REDIS_SERVER_BIN'), join(own, 'server.conf'), mode, ...(mode === '--sentinel' ? [] : ['yes'])],
    }));
    const tls = this.example('bind')
      .split('\n')
      .filter((line) => /^tls-(?!port)/.test(line));
    const own = ['port 0', `tls-port ${String(server.port)}`, 'bind 127.0.0.1', `dir ${server.folder}`];
    await writeFile(join(server.folder, 'server.conf'), [...own, ...tls, ...settings].join('\n'));
    server.start();
    return server.port;
  }

  private async bash(commands: string): Promise<void> {
    await run('bash', ['-e', '-c', commands], { cwd: this.folder });
  }

  /** Runs an example of mongosh. */
  private async runMongosh(uri: string, first: string): Promise<void> {
    const commands: mongo.Document[] = [];
    runInNewContext(this.example(first), {
      rs: { initiate: (config: unknown) => commands.push({ replSetInitiate: config }) },
      db: { createUser: ({ user, ...rest }: { user: string }) => commands.push({ createUser: user, ...rest }) },
    });
    await this.runOnMongodb(uri, commands);
  }

  private async runOnMongodb(uri: string, commands: mongo.Document[], database?: string): Promise<void> {
    const client = new mongo.MongoClient(uri, { tlsAllowInvalidCertificates: true, tlsAllowInvalidHostnames: true });
    try {
      // MongoDB may still be starting, or electing its primary.
      for (const command of commands) await eventually(() => client.db(database).command(command), START_WITHIN_MS);
    } finally {
      await client.close();
    }
  }

  /** The URI of the example that connects as the administrator, whose password `mongosh` asks for. */
  private get adminUri(): string {
    const credentials = `admin:${this.passwords.get(MONGODB_ADMIN) ?? ''}@`;
    return this.uriIn("mongosh 'mongodb://stores.example").replace('mongodb://', `mongodb://${credentials}`);
  }

  private uriIn(first: string): string {
    return /'(mongodb:.*)'/.exec(this.example(first))?.[1] ?? '';
  }

  /** Returns the example that begins with this text, with the names, ports and passwords of these stores. */
  private example(first: string): string {
    const blocks = readFileSync(DOCUMENT, 'utf8').matchAll(/^```\w+\n([^]*?)^```/gm);
    const found = [...blocks].map(([, code = '']) => code).find((code) => code.startsWith(first));
    if (found === undefined) throw new Error(`docs/securing.md has no example that begins with ${first}`);
    const [redis, mongodb] = [String(this.redis.port), String(this.mongod.port)];
    // All stores run as the user of the test.
    const user = userInfo().username;
    let text = found
      .replaceAll(FOLDER, this.folder)
      .replaceAll(/(install -o|chown) (?:redis|mongodb|SERVICE-USER)\b/g, `$1 ${user}`)
      .replaceAll('STORES-ADDRESS', '127.0.0.1')
      .replaceAll('DNS:stores.example', 'DNS:localhost, IP:127.0.0.1')
      .replaceAll('stores.example', 'localhost')
      .replace(/(tls-port |localhost:)6379/g, `$1${redis}`)
      .replace(/localhost(?::27017)?(?=[/'])/g, `localhost:${mongodb}`);
    for (const [word, password] of this.passwords)
      text = text.replaceAll(new RegExp(`\\b(?<!-)${word}\\b`, 'g'), password);
    return text;
  }
}
