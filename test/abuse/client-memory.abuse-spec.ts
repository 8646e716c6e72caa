import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { SchemaRepository, type Database } from '@app/database';
import { isClosedWithin } from './connections.js';
import type { ApiClient } from '../support/api-client.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { record, store, uniqueWord, validInput } from '../support/items.js';
import { endProcesses, ServiceProcess } from '../support/processes.js';
import { openQueue, type OpenQueue } from '../support/queue.js';
import { RawConnection } from '../support/raw-connection.js';

/** How far attackers may raise the memory of the process: its limit for clients, and uncollected garbage. */
const MAX_MORE_MEGABYTES = 250;
const SAMPLES = 50;
const PIECE_BYTES = 100_000;
/** Within this time, a client reads the rest of what a closed connection holds. */
const CLOSED_MS = 15_000;
/** Each has more than half of the items that are read at a time, so that they are read one after the other. */
const LARGE_PAGES = 40;
/** A well-formed id, so that the API queries MongoDB for it. */
const UNKNOWN = 'f'.repeat(24);
const CHUNKED =
  'POST /api/orpc/items/getById HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
const TINY = 'GET /x HTTP/1.1\r\nHost:\r\n\r\n';
const LIST = 'POST /api/orpc/items/getAll HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';
const READY = 'GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n';
/** The start of a successful response. */
const OK = 'HTTP/1.1 200';
const BUNDLE = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n';

jest.setTimeout(300_000);

describe('an API whose clients make it buffer data', () => {
  let env: NodeJS.ProcessEnv;
  let database: Database;
  let api: ServiceProcess;
  let client: ApiClient;
  let before: number;
  let jobs: OpenQueue;
  const open: { destroy: () => void }[] = [];

  // Each test has its own process, so that memory kept after one neither hides nor adds to that of the next.
  beforeEach(async () => {
    env = freshEnvironment({
      // Without a worker, a create gets no response until its wait is over.
      CREATE_WAIT_MS: '60000',
      LOG_LEVEL: 'info',
    });
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    jobs = openQueue(env);
    await startApi(256);
  });
  afterEach(async () => {
    for (const socket of open.splice(0)) socket.destroy();
    await database.connection.dropDatabase();
    await database.close();
    await jobs.close();
    await endProcesses();
  });

  const startApi = async (heapMegabytes: number): Promise<void> => {
    api = ServiceProcess.start('api', { ...env, NODE_OPTIONS: `--max-old-space-size=${String(heapMegabytes)}` });
    await api.waitForStatus('ready');
    client = await api.client();
    await expectServed();
    before = await residentMegabytes();
  };
  /** On a busy machine, reads get a 503 while the API reads the attackers' bytes. */
  const expectServed = async (): Promise<void> =>
    eventually(async () => {
      expect((await client.call('getById', { id: UNKNOWN })).status).toBe(404);
    });
  const residentMegabytes = async (): Promise<number> => {
    const metrics = await api.metrics();
    return Number(/^process_resident_memory_bytes (\S+)$/m.exec(metrics)?.[1]) / 1e6;
  };
  /** Samples repeatedly, because the API reads the attackers' bytes between its responses to others. */
  const expectBoundedMemory = async (): Promise<void> => {
    for (let samples = 0; samples < SAMPLES; samples += 1) {
      await expectServed();
      const more = (await residentMegabytes()) - before;
      expect(more).toBeLessThan(MAX_MORE_MEGABYTES);
    }
  };
  const connectRaw = async (): Promise<RawConnection> => {
    const connection = await RawConnection.open(client.base);
    open.push({
      destroy: () => {
        connection.destroy();
      },
    });
    return connection;
  };
  /** Sends bytes on a connection that never reads. */
  const sendUnread = async (bytes: string): Promise<Socket> => {
    const { hostname, port } = new URL(client.base);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    open.push(socket);
    await once(socket, 'connect');
    socket.write(bytes);
    return socket;
  };
  const request = (operation: string, input: object): string => {
    const body = JSON.stringify(input);
    const head = `POST /api/orpc/items/${operation} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    return `${head}Content-Length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`;
  };
  const create = (name = 'Bike'): string => request('create', validInput({ name }));

  it('an API buffers a body of a million one-byte chunks without overhead per chunk', async () => {
    const chunks = '1\r\nx\r\n'.repeat(1_000_000);
    const connections = await Promise.all(Array.from({ length: 3 }, connectRaw));
    for (const connection of connections) connection.send(CHUNKED).send(chunks);
    await expectServed();
    const responses = connections.map((connection) => connection.send('0\r\n\r\n').nextResponse());
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([400, 400, 400]);
    await expectBoundedMemory();
  });

  it('an API does not buffer chunks that no handler reads', async () => {
    const chunks = '1\r\nx\r\n'.repeat(100_000);
    const get = 'GET /health/ready HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    await Promise.all(Array.from({ length: 20 }, () => sendUnread(create() + CHUNKED + chunks)));
    await Promise.all(Array.from({ length: 20 }, () => sendUnread(get + chunks)));
    await expectBoundedMemory();
  });

  it('an API limits the bodies that it buffers while they do not end', async () => {
    const head = CHUNKED.replace('Transfer-Encoding: chunked', 'Content-Length: 1000000');
    const begin = 'x'.repeat(900_000);
    await Promise.all(Array.from({ length: 400 }, () => sendUnread(head + begin)));
    await expectBoundedMemory();
  });

  it('an API reads as many of the largest bodies at the same time as fit into its limit', async () => {
    const bytes = Buffer.from(request('getById', { id: UNKNOWN, unknown: 'x'.repeat(1_000_000) }));
    const connections = await Promise.all(Array.from({ length: 45 }, connectRaw));
    for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
      for (const connection of connections) connection.send(bytes.subarray(start, start + PIECE_BYTES));
      // By then, the API has read most of the pieces, so the bodies arrive together.
      await expectServed();
    }
    const responses = connections.map((connection) => connection.nextResponse());
    expect(new Set((await Promise.all(responses)).map(({ status }) => status))).toEqual(new Set([404]));
    await expectBoundedMemory();
  });

  it.each([
    ['create', validInput()],
    ['getById', { id: UNKNOWN }],
  ])('an API does not keep the unknown keys of many bodies at the same time: %s', async (operation, input) => {
    const unknown = Array.from({ length: 24_000 }, () => ({}));
    const bytes = request(operation, { ...input, unknown });
    await Promise.all(Array.from({ length: 4000 }, () => sendUnread(bytes)));
    await expectBoundedMemory();
  });

  it('an API does not parse creates that wait for their turn, however many objects they have', async () => {
    const bytes = request('create', { photos: [Array.from({ length: 5300 }, () => ({}))] });
    await Promise.all(Array.from({ length: 4000 }, () => sendUnread(bytes)));
    await expectBoundedMemory();
  });

  it('an API limits the requests with many headers that it holds while their bodies do not end', async () => {
    const headers = Array.from({ length: 1900 }, (_, index) => `${(index + 36).toString(36)}:ab\r\n`).join('');
    const bytes = CHUNKED.replace('\r\n\r\n', `\r\n${headers}\r\n`);
    await Promise.all(Array.from({ length: 2000 }, () => sendUnread(bytes)));
    await expectBoundedMemory();
  });

  it('an API does not buffer responses to pipelined requests while the client does not read', async () => {
    await sendUnread(BUNDLE.repeat(300));
    await Promise.all(Array.from({ length: 20 }, () => sendUnread(READY.repeat(1000))));
    await expectBoundedMemory();
  });

  it('an API limits the pipelined requests that it buffers, however small they are', async () => {
    await Promise.all(Array.from({ length: 100 }, () => sendUnread(create() + TINY.repeat(40_000))));
    await expectBoundedMemory();
  });

  it('an API begins one request per connection at a time', async () => {
    const [first, second] = [uniqueWord(), uniqueWord()];
    await sendUnread(create(first).repeat(20));
    await sendUnread(create(second));
    const queued = await eventually(async () => {
      const all = JSON.stringify((await jobs.queue.getWaiting()).map(({ data }) => data as unknown));
      expect([all.includes(first), all.includes(second)]).toEqual([true, true]);
      return all;
    });
    const times = queued.split(first).length - 1;
    expect(times).toBe(1);
  });

  it('an API serves other clients while some send thousands of readiness requests', async () => {
    const connections = await Promise.all(Array.from({ length: 5 }, connectRaw));
    const done = new AbortController();
    const others = (async () => {
      while (!done.signal.aborted) await expectServed();
    })();
    const all = connections.map(async (connection) => {
      connection.send(READY.repeat(1000));
      for (let count = 0; count < 1000; count += 1) expect((await connection.nextResponse()).status).toBe(200);
    });
    await Promise.all(all);
    done.abort();
    await others;
  });

  it('an API limits the large responses that it buffers for clients that do not read, and still serves others', async () => {
    // V8 collects garbage earlier in a small heap, so that what is measured is mostly what the API holds.
    await endProcesses();
    await startApi(128);
    const description = 'x'.repeat(300_000);
    await store(database, ...Array.from({ length: 50 }, () => record({ description })));
    // The API prepares one page per connection at a time.
    await sendUnread(LIST.repeat(100));
    const sockets: Socket[] = [];
    // On a busy machine, some lists get a 503, which is not large.
    const addLarge = async (): Promise<void> => {
      const socket = await sendUnread(LIST);
      await once(socket, 'readable');
      expect(String(socket.read(OK.length))).toBe(OK);
      sockets.push(socket);
    };
    for (let count = 0; count < 40; count += 1) await eventually(addLarge);
    await expectBoundedMemory();
    expect(await client.getAll()).toHaveLength(50);
    // The connection that has not been read for the longest time has been closed.
    const [first] = sockets as [Socket];
    expect(await isClosedWithin(first, CLOSED_MS)).toBe(true);
  });

  it('an API reads a small page before the large ones that arrived earlier', async () => {
    const description = 'x'.repeat(60_000);
    await store(database, ...Array.from({ length: 100 }, () => record({ description })));
    await client.getAll();
    // Repeated, because on a busy machine the time of all large pages runs out before one is read.
    await eventually(async () => {
      const ended: string[] = [];
      const large = Array.from({ length: LARGE_PAGES }, async (_, index) => {
        // Connections that this process reads slowly are closed.
        const response = await client.callOnce('getAll', { pageSize: 100 - index }).catch(() => undefined);
        if (response?.status === 200) ended.push('large');
      });
      await Promise.race(large);
      expect(await client.getAll({ pageSize: 2 })).toHaveLength(2);
      ended.push('small');
      await Promise.all(large);
      expect(ended[0]).toBe('large');
      expect(ended.indexOf('small')).toBeLessThan(LARGE_PAGES / 2);
    });
  });
});
