import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Database, initiateReplicaSet } from '@app/database';
import { connectRedis } from '@app/queue';
import { Redis } from 'ioredis';
import { eventually } from './eventually.js';

const run = promisify(execFile);

interface Description {
  url: string;
  command: [binary: string, ...args: string[]];
}

/** The slots of a Redis Cluster. */
const SLOTS = Array.from({ length: 16_384 }, (_, slot) => slot);

const FIRST_PORT = 10_000;
const PORTS_PER_WORKER = 500;

const created: DatabaseServer[] = [];
/** The ports returned in this test file. */
const reserved = new Set<number>();

/** Kills the databases of a test file and removes their data. */
export async function removeDatabaseServers(): Promise<void> {
  await Promise.all(created.splice(0).map((database) => database.remove()));
}

/** A database server for one test file, on a free port and in a temporary folder. Tests may kill and pause it. */
export class DatabaseServer {
  private child: ChildProcess | undefined;

  private constructor(
    readonly url: string,
    readonly port: number,
    readonly folder: string,
    private readonly command: [binary: string, ...args: string[]],
  ) {}

  /** Reserves a port and a folder. Does not start the server. */
  static async create(describe: (port: number, folder: string) => Description): Promise<DatabaseServer> {
    const port = await freePort();
    const folder = await mkdtemp(join(tmpdir(), 'own-database-'));
    const { url, command } = describe(port, folder);
    const database = new DatabaseServer(url, port, folder, command);
    created.push(database);
    return database;
  }

  /** Starts the server. A restarted server has the same port and data. */
  start(): void {
    const [binary, ...args] = this.command;
    const child = spawn(binary, args, { stdio: 'ignore' });
    child.once('error', () => undefined);
    // An aborted test run must not leave the server running.
    const kill = (): void => {
      child.kill('SIGKILL');
    };
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    this.child = child;
  }

  /** Sends SIGSTOP. When this resolves, connections stay open but get no response. */
  async pause(): Promise<void> {
    this.child?.kill('SIGSTOP');
    await eventually(async () => {
      const { stdout: state } = await run('ps', ['-o', 'state=', '-p', String(this.child?.pid)]);
      if (!state.startsWith('T')) throw new Error(`in state ${state}`);
    });
  }

  resume(): void {
    this.child?.kill('SIGCONT');
  }

  /** Sends SIGKILL and waits for the process to exit. */
  async kill(): Promise<void> {
    const { child } = this;
    if (!this.isRunning || child === undefined) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  get isRunning(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Kills the server and removes its data. */
  async remove(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Creates a MongoDB server. {@link startMongodb} starts it. */
export async function createMongodb(...more: string[]): Promise<DatabaseServer> {
  return DatabaseServer.create((port, folder) => ({
    url: `mongodb://127.0.0.1:${String(port)}/own?replicaSet=rs0`,
    command: [
      binary('MONGOD_BIN'),
      ...['--replSet', 'rs0', '--bind_ip', '127.0.0.1', '--port', String(port), '--dbpath', folder, '--nounixsocket'],
      ...['--wiredTigerCacheSizeGB', '0.25', '--oplogSize', '64'],
      ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
      ...more,
    ],
  }));
}

/** Creates a Redis server whose data survives SIGKILL. {@link startRedis} starts it. */
export async function createRedis(...more: string[]): Promise<DatabaseServer> {
  return DatabaseServer.create((port, folder) => ({
    url: `redis://127.0.0.1:${String(port)}/0`,
    command: [
      binary('REDIS_SERVER_BIN'),
      ...['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--appendonly', 'yes', '--save', ''],
      ...more,
    ],
  }));
}

/** Creates a Redis Sentinel. Write `sentinel.conf` to its folder before you start it. */
export async function createSentinel(): Promise<DatabaseServer> {
  return DatabaseServer.create((port, folder) => ({
    url: `redis://127.0.0.1:${String(port)}`,
    command: [
      binary('REDIS_SERVER_BIN'),
      join(folder, 'sentinel.conf'),
      ...['--sentinel', '--bind', '127.0.0.1', '--port', String(port), '--dir', folder],
    ],
  }));
}

/** Starts a new MongoDB server and waits until it accepts writes. */
export async function startMongodb(mongod: DatabaseServer): Promise<void> {
  mongod.start();
  await eventually(() => initiateReplicaSet({ set: 'rs0', host: `127.0.0.1:${String(mongod.port)}` }), 60_000);
  await connectOnce(mongod.url);
}

/** Starts new MongoDB servers as one replica set and waits until it accepts writes. */
export async function startReplicaSet(mongods: readonly DatabaseServer[]): Promise<void> {
  for (const mongod of mongods) mongod.start();
  const members = mongods.map(({ port }, _id) => ({ _id, host: `127.0.0.1:${String(port)}` }));
  // Otherwise, a secondary could replicate from one that a test has stopped.
  const settings = { chainingAllowed: false };
  const hosts = members.map(({ host }) => host);
  await Promise.all(hosts.map((host) => connectOnce(`mongodb://${host}/?directConnection=true`)));
  await connectOnce(`mongodb://${hosts[0] ?? ''}/?directConnection=true`, async ({ connection }) => {
    await connection
      .getClient()
      .db('admin')
      .command({ replSetInitiate: { _id: 'rs0', members, settings } });
  });
  await connectOnce(`mongodb://${hosts.join(',')}/?replicaSet=rs0`);
}

async function connectOnce(uri: string, use?: (database: Database) => Promise<void>): Promise<void> {
  const database = new Database({ uri, serverSelectionMs: 5000, socketMs: 0 });
  await database.connect(() => undefined);
  await use?.(database);
  await database.close();
}

/** Starts a Redis server and waits until it responds. */
export async function startRedis(redis: DatabaseServer): Promise<void> {
  redis.start();
  const connection = connectRedis(redis.url, 'worker', () => undefined);
  await connection.ping();
  connection.disconnect();
}

/** Starts a Redis Cluster of two nodes, the first with all slots except one. */
export async function startRedisCluster(): Promise<{ url: string; nodes: [DatabaseServer, DatabaseServer] }> {
  const options = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'];
  // Each node also listens for the other one on a second port, by default 10,000 above the first.
  const nodes: [DatabaseServer, DatabaseServer] = [await createRedis(...options), await createRedis(...options)];
  const clients = nodes.map((node) => {
    node.start();
    const client = new Redis({ port: node.port, retryStrategy: () => 50, maxRetriesPerRequest: null });
    client.on('error', () => undefined);
    return client;
  });
  const [first, second] = clients as [Redis, Redis];
  try {
    await first.cluster('ADDSLOTS', ...SLOTS.slice(1));
    await second.cluster('ADDSLOTS', 0);
    await first.cluster('MEET', '127.0.0.1', String(nodes[1].port));
    await eventually(async () => {
      for (const client of clients) expect(await client.cluster('INFO')).toContain('cluster_state:ok');
    });
  } finally {
    for (const client of clients) client.disconnect();
  }
  return { url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${String(port)}`).join(',')}`, nodes };
}

/** Returns the path of a database server that `npm test` has found. */
export function binary(variable: string): string {
  const path = process.env[variable];
  if (path === undefined) throw new Error(`${variable} is missing: run the tests with npm test, which sets it`);
  return path;
}

/**
 * Returns a port that no process listens on. Redis Cluster needs the one 10,000 above it too. They are outside the range
 * from which Linux assigns ports, and each jest worker has its own, so that no other test takes one meanwhile.
 */
export async function freePort(): Promise<number> {
  const first = FIRST_PORT + Number(process.env['JEST_WORKER_ID'] ?? 0) * PORTS_PER_WORKER;
  const port = first + randomInt(PORTS_PER_WORKER);
  if (reserved.has(port) || !(await isFree(port)) || !(await isFree(port + 10_000))) return freePort();
  reserved.add(port);
  return port;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
