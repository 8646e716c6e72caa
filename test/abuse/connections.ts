import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { once } from 'node:events';

/** Connects and sends requests, but reads no response. */
export async function sendUnread(base: string, requests: string | Buffer): Promise<Socket> {
  const { hostname, port } = new URL(base);
  const socket = connect({ host: hostname, port: Number(port) });
  // The service may disconnect such a client.
  socket.on('error', () => undefined);
  socket.pause();
  await once(socket, 'connect');
  socket.write(requests);
  return socket;
}

/** Reads what arrives. Returns whether the service closes the connection in time. */
export async function isClosedWithin(socket: Socket, ms: number): Promise<boolean> {
  socket.resume();
  const closed = new Promise<boolean>((resolve) => {
    socket.once('close', () => {
      resolve(true);
    });
  });
  const waited = delay(ms, false, { ref: false });
  return socket.destroyed || Promise.race([closed, waited]);
}

/** Returns the bytes of a GET request. */
export function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
}

/** Returns the bytes of a request for an operation. */
export function post(operation: string, body: string): string {
  return `${head(operation)}Content-Length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`;
}

/** Returns the bytes of a getAll whose body comes in about `length` chunks of one byte. The last chunk is left out. */
export function inChunks(length: number): Buffer {
  const body = `{"search":"${'x'.repeat(length)}"}`;
  return Buffer.from(
    `${head('getAll')}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${body.replaceAll(/./g, '1\r\n$&\r\n')}`,
  );
}

function head(operation: string): string {
  return `POST /api/orpc/items/${operation} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
}
