import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBody } from '@app/contracts';
import { sendError, type ApiResponse } from './api-message.js';
import type { ApiError } from './api-error.js';
import { STANDING_HEADERS } from './security-headers.js';

const DISCARD_BYTES = 4 * 1024 * 1024;
/** Closing while the client still sends would reset the connection, and it would not see the answer. */
const LINGER_MS = 2000;

/** Refuses a request without reading its body to the end. */
export function sendEarlyError(response: ApiResponse, { code, details }: ApiError): void {
  if (isFullyRead(response.req)) {
    sendError(response, code, details);
    return;
  }
  response.setHeader('Connection', 'close');
  sendError(response, code, details, endAfterDiscarding);
}

export function isFullyRead({ complete, headers }: IncomingMessage): boolean {
  return complete || (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0);
}

/**
 * Sends the answer at once but ends, which closes the connection, only when the client has sent what
 * it had: closing with bytes unread would reset the connection, and the client would not see the answer.
 */
function endAfterDiscarding(response: ApiResponse, bytes: Buffer): void {
  response.write(bytes);
  let discarded = 0;
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  response.req
    .on('data', (chunk: Buffer) => {
      discarded += chunk.length;
      if (discarded > DISCARD_BYTES) end();
    })
    .once('end', end)
    .once('error', end);
}

/** Answers bytes that never became a request. */
export function sendUnparsedError(socket: Duplex, { code, details }: ApiError): void {
  if (!socket.writable) return;
  const body = errorBody(code, details);
  const bytes = Buffer.from(JSON.stringify(body));
  const head = [
    `HTTP/1.1 ${String(body.status)} ${STATUS_CODES[body.status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${String(bytes.length)}`,
    `Date: ${new Date().toUTCString()}`,
    ...STANDING_HEADERS.map(([name, value]) => `${name}: ${value}`),
    `X-Request-Id: ${randomUUID()}`,
    'Connection: close',
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes]));
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
