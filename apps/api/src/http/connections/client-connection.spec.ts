import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { Connections } from './connections.js';
import { ArrivingBody } from './read-body.js';
import { createHttpServer } from './server.js';

const CLIENTS = 3;
const CHUNKS = 80_000;
/** The most that Node.js reads from a socket before it emits what it has read. */
const READ_BYTES = 64 * 1024;
const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
const CHUNK = '1\r\nx\r\n';

describe('ClientConnection', () => {
  let server: Server;
  let clients: Socket[];
  /** How many chunks of bodies arrived in each turn of the event loop. */
  let chunksInTurn: number[];
  let lengths: number[];
  beforeEach(async () => {
    [clients, chunksInTurn, lengths] = [[], [], []];
    const connections = new Connections();
    server = createHttpServer({
      listener: (_request, response) => {
        connections.admit(response, () => {
          const body = new ArrivingBody(response, Infinity);
          response.req.on('data', () => {
            chunksInTurn.push((chunksInTurn.pop() ?? 0) + 1);
          });
          void body.ended.then(() => {
            lengths.push(body.bytes.length);
            response.end();
          });
        });
      },
      connections,
      config: { keepAliveMs: 1000, maxConnections: 100 },
      // Longer than a busy machine takes.
      timeouts: { headersMs: 10_000, requestMs: 110_000, checkEveryMs: 1000 },
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    for (const client of clients) client.destroy();
    server.close();
  });

  const send = async (bytes: string): Promise<void> => {
    const { port } = server.address() as AddressInfo;
    const client = connect({ host: '127.0.0.1', port }, () => client.write(bytes));
    clients.push(client);
    await once(client, 'data');
  };

  it('a connection whose body arrives in many chunks reads only 64 KiB of it before others read', async () => {
    let isOver = false;
    const nextTurn = (): void => {
      if (isOver) return;
      chunksInTurn.push(0);
      setImmediate(nextTurn);
    };
    nextTurn();
    const request = `${HEAD}${CHUNK.repeat(CHUNKS)}0\r\n\r\n`;
    await Promise.all(Array.from({ length: CLIENTS }, () => send(request)));
    isOver = true;
    expect(lengths).toEqual(Array.from({ length: CLIENTS }, () => CHUNKS));
    // The first read of each connection comes before it has to wait. A turn may also have a short read of another one.
    const largest = chunksInTurn.sort((a, b) => b - a).slice(CLIENTS);
    expect(Math.max(...largest)).toBeLessThan((2 * READ_BYTES) / CHUNK.length);
  });
});
