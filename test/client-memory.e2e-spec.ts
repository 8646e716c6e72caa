import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { SchemaRepository, type Database } from '@app/database';
import type { ApiClient } from './support/api-client.js';
import { eventually } from './support/eventually.js';
import { record, store, uniqueWord, validInput } from './support/items.js';
import { endProcesses, ServiceProcess } from './support/processes.js';
import { openQueue, type OpenQueue } from './support/queue.js';
import { RawConnection } from './support/raw-connection.js';
import { freshEnvironment, openDatabase } from './support/service.js';

/** What attackers may add to the memory of the process: its bound for clients, and what V8 has not collected yet. */
const MAX_MORE_MEGABYTES = 250;
const LOOKS = 50;
/** MongoDB is asked for it. */
const UNKNOWN = 'f'.repeat(24);
const CHUNKED =
  'POST /api/orpc/items/getById HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
const TINY = 'GET /x HTTP/1.1\r\nHost:\r\n\r\n';
const LIST = 'POST /api/orpc/items/getAll HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';
const READY = 'GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n';
const BUNDLE = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n';

jest.setTimeout(90_000);

describe('a client that makes the API keep much', () => {
  let database: Database;
  let api: ServiceProcess;
  let quiet: ApiClient;
  let before: number;
  let jobs: OpenQueue;
  const open: { destroy: () => void }[] = [];

  // Each in a process of its own: what one has kept does not hide, or add to, what the next does.
  beforeEach(async () => {
    // No worker: a create is not answered for as long as it waits.
    const env = freshEnvironment({
      NODE_OPTIONS: '--max-old-space-size=256',
      CREATE_WAIT_MS: '60000',
      LOG_LEVEL: 'info',
    });
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    jobs = openQueue(env);
    api = ServiceProcess.start('api', env);
    await api.becomes('ready');
    quiet = await api.client();
    await ask();
    before = await megabytes();
  });
  afterEach(async () => {
    for (const socket of open.splice(0)) socket.destroy();
    await database.connection.dropDatabase();
    await database.close();
    await jobs.close();
    await endProcesses();
  });

  const ask = async (): Promise<void> => {
    expect((await quiet.call('getById', { id: UNKNOWN })).status).toBe(404);
  };
  const megabytes = async (): Promise<number> => {
    const metrics = await (await fetch(`${quiet.base}/metrics`)).text();
    return Number(/^process_resident_memory_bytes (\S+)$/m.exec(metrics)?.[1]) / 1e6;
  };
  /** Looks again and again: the attacker's bytes are read between the answers to others. */
  const expectLittleMore = async (): Promise<void> => {
    for (let looks = 0; looks < LOOKS; looks += 1) {
      await ask();
      const more = (await megabytes()) - before;
      expect(more).toBeLessThan(MAX_MORE_MEGABYTES);
    }
  };
  const raw = async (): Promise<RawConnection> => {
    const connection = await RawConnection.open(quiet.base);
    open.push({
      destroy: () => {
        connection.hangUp();
      },
    });
    return connection;
  };
  /** Sends, and reads nothing. */
  const unread = async (bytes: string): Promise<Socket> => {
    const { hostname, port } = new URL(quiet.base);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    open.push(socket);
    await once(socket, 'connect');
    socket.write(bytes);
    return socket;
  };
  const create = (name = 'Bike'): string => {
    const body = JSON.stringify(validInput({ name }));
    const head = 'POST /api/orpc/items/create HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    return `${head}Content-Length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`;
  };

  it('has a body of a million chunks of one byte kept in its bytes', async () => {
    const chunks = '1\r\nx\r\n'.repeat(1_000_000);
    const connections = await Promise.all(Array.from({ length: 3 }, raw));
    for (const connection of connections) connection.send(CHUNKED).send(chunks);
    await ask();
    const answers = connections.map((connection) => connection.send('0\r\n\r\n').answer());
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([400, 400, 400]);
    await expectLittleMore();
  });

  it('has no chunks kept that nobody reads', async () => {
    const chunks = '1\r\nx\r\n'.repeat(100_000);
    const get = 'GET /health/ready HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    await Promise.all(Array.from({ length: 20 }, () => unread(create() + CHUNKED + chunks)));
    await Promise.all(Array.from({ length: 20 }, () => unread(get + chunks)));
    await expectLittleMore();
  });

  it('has few bodies kept that do not end', async () => {
    const head = CHUNKED.replace('Transfer-Encoding: chunked', 'Content-Length: 1000000');
    const begin = 'x'.repeat(900_000);
    await Promise.all(Array.from({ length: 400 }, () => unread(head + begin)));
    await expectLittleMore();
  });

  it('has no answers kept to pipelined requests that it does not read', async () => {
    await unread(BUNDLE.repeat(300));
    await Promise.all(Array.from({ length: 20 }, () => unread(READY.repeat(1000))));
    await expectLittleMore();
  });

  it('has few of the smallest requests kept', async () => {
    await Promise.all(Array.from({ length: 100 }, () => unread(create() + TINY.repeat(40_000))));
    await expectLittleMore();
  });

  it('has one request begun at a time', async () => {
    const [first, second] = [uniqueWord(), uniqueWord()];
    await unread(create(first).repeat(20));
    await unread(create(second));
    const queued = await eventually(async () => {
      const all = JSON.stringify((await jobs.queue.getWaiting()).map(({ data }) => data as unknown));
      expect([all.includes(first), all.includes(second)]).toEqual([true, true]);
      return all;
    });
    const times = queued.split(first).length - 1;
    expect(times).toBe(1);
  });

  it('has others answered while it asks thousands of times whether the API is ready', async () => {
    const connections = await Promise.all(Array.from({ length: 5 }, raw));
    const done = new AbortController();
    const others = (async () => {
      while (!done.signal.aborted) await ask();
    })();
    const all = connections.map(async (connection) => {
      connection.send(READY.repeat(1000));
      for (let count = 0; count < 1000; count += 1) expect((await connection.answer()).status).toBe(200);
    });
    await Promise.all(all);
    done.abort();
    await others;
  });

  it('has few large answers kept that it does not read, and not those of others', async () => {
    const description = 'x'.repeat(300_000);
    await store(database, ...Array.from({ length: 50 }, () => record({ description })));
    // One connection has one page made at a time.
    await unread(LIST.repeat(100));
    const sockets: Socket[] = [];
    for (let count = 0; count < 40; count += 1) {
      const socket = await unread(LIST);
      sockets.push(socket);
      await once(socket, 'readable');
    }
    await expectLittleMore();
    expect(await quiet.getAll()).toHaveLength(50);
    // Those that have not read for the longest have been cut off.
    await eventually(() => {
      for (const socket of sockets) socket.read();
      expect(sockets[0]?.destroyed).toBe(true);
    });
  });
});
