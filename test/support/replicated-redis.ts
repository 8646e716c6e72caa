import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { createRedis, createSentinel, startRedis, type DatabaseServer } from './database-servers.js';
import { eventually } from './eventually.js';

/** Redis servers with replicas, which `removeDatabaseServers` removes. */
export interface ReplicatedRedis {
  url: string;
  /** Makes every replica a primary. */
  failOver: () => Promise<void>;
}

/** How long a primary must be unreachable before a replica replaces it. */
const DOWN_AFTER_MS = '2000';
const SLOTS = Array.from({ length: 16_384 }, (_, slot) => slot);

/**
 * Starts two servers behind one address, like the service of a managed Redis. A failover makes the second one the primary,
 * and leaves the connections to the first one, which is its replica from then on, open.
 */
export async function startBehindOneAddress(): Promise<ReplicatedRedis & { close: () => void }> {
  const [former, latter] = [await createRedis(), await createRedis()];
  await Promise.all([startRedis(former), startRedis(latter)]);
  let primary = former;
  const proxy = createServer((client) => {
    const server = connect(primary.port, '127.0.0.1');
    client.pipe(server).pipe(client);
    client.once('error', () => server.destroy());
    server.once('error', () => client.destroy());
  }).listen(0, '127.0.0.1');
  await once(proxy.unref(), 'listening');
  const failOver = async (): Promise<void> => {
    primary = latter;
    await call(former, 'REPLICAOF', '127.0.0.1', latter.port);
  };
  const url = `redis://127.0.0.1:${String((proxy.address() as AddressInfo).port)}`;
  return { url, failOver, close: () => proxy.close() };
}

/** Starts a primary with a replica, and three Sentinels. */
export async function startSentinels(): Promise<ReplicatedRedis & { killPrimary: () => Promise<void> }> {
  const first = await createRedis();
  const servers = [first, await createRedis('--replicaof', '127.0.0.1', String(first.port))];
  const sentinels = [await createSentinel(), await createSentinel(), await createSentinel()] as const;
  const watched = `sentinel monitor main 127.0.0.1 ${String(first.port)} 2\n`;
  const config = `${watched}sentinel down-after-milliseconds main ${DOWN_AFTER_MS}\n`;
  for (const { folder } of sentinels) await writeFile(join(folder, 'sentinel.conf'), config);
  for (const server of [...servers, ...sentinels]) server.start();
  await eventually(async () => {
    for (const sentinel of sentinels) {
      expect(await call(sentinel, 'SENTINEL', 'CKQUORUM', 'main')).toContain('3 usable');
      expect(await call(sentinel, 'SENTINEL', 'REPLICAS', 'main')).toEqual([expect.arrayContaining(['ok'])]);
    }
  }, 60_000);
  const [sentinel] = sentinels;
  const killPrimary = async (): Promise<void> => {
    const [, primary] = (await call(sentinel, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main')) as string[];
    await servers.find(({ port }) => String(port) === primary)?.kill();
  };
  const failOver = async (): Promise<void> => {
    await call(sentinel, 'SENTINEL', 'FAILOVER', 'main');
  };
  return { url: `redis+sentinel://${addressesOf(sentinels)}/main`, failOver, killPrimary };
}

/** Starts a Cluster of three primaries with a replica each. */
export async function startReplicatedCluster(): Promise<ReplicatedRedis> {
  const create = (): Promise<DatabaseServer> =>
    createRedis('--cluster-enabled', 'yes', '--cluster-node-timeout', DOWN_AFTER_MS);
  const primaries = [await create(), await create(), await create()] as const;
  const replicas = [await create(), await create(), await create()];
  const nodes = [...primaries, ...replicas];
  for (const node of nodes) node.start();
  for (const [index, node] of primaries.entries()) {
    const slots = SLOTS.filter((slot) => slot % primaries.length === index);
    await eventually(() => call(node, 'CLUSTER', 'ADDSLOTS', ...slots));
  }
  for (const { port } of nodes) await eventually(() => call(primaries[0], 'CLUSTER', 'MEET', '127.0.0.1', port));
  for (const [index, replica] of replicas.entries()) {
    const primary = await call(primaries[index] ?? primaries[0], 'CLUSTER', 'MYID');
    await eventually(() => call(replica, 'CLUSTER', 'REPLICATE', String(primary)));
  }
  await eventually(async () => {
    for (const node of nodes) expect(await call(node, 'CLUSTER', 'INFO')).toContain('cluster_state:ok');
    for (const replica of replicas) expect(await call(replica, 'INFO')).toContain('master_link_status:up');
  }, 60_000);
  const failOver = async (): Promise<void> => {
    for (const replica of replicas) await call(replica, 'CLUSTER', 'FAILOVER');
  };
  return { url: `redis+cluster://${addressesOf(nodes)}`, failOver };
}

async function call(server: DatabaseServer, command: string, ...args: (string | number)[]): Promise<unknown> {
  const redis = new Redis(server.port, { retryStrategy: () => null, maxRetriesPerRequest: 0 });
  redis.on('error', () => undefined); // The command rejects too.
  try {
    return await redis.call(command, ...args);
  } finally {
    redis.disconnect();
  }
}

function addressesOf(servers: readonly DatabaseServer[]): string {
  return servers.map(({ port }) => `127.0.0.1:${String(port)}`).join(',');
}
