import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBody } from '@app/contracts';
import { sendError, type ApiResponse } from '../api-message.js';
import type { ApiError } from '../api-error.js';
import { COMMON_HEADERS } from '../headers/security-headers.js';

const DISCARD_BYTES = 4 * 1024 * 1024;
/** How long to keep reading after the response. */
const LINGER_MS = 2000;

/** Sends an error without reading the request body to its end. */
export function sendEarlyError(response: ApiResponse, { code, details }: ApiError): void {
  if (isFullyRead(response.req)) {
    sendError(response, code, details);
    return;
  }
  response.setHeader('Connection', 'close');
  sendError(response, code, details, response.req.socket.readableEnded ? closeAfterSending : endAfterDiscarding);
}

/** Closes the connection of a response that has been sent in part, so that its client does not take it for complete. */
export function cutOff(response: ApiResponse): void {
  // A response to a request that is still being discarded ends on its own.
  if (!response.writableEnded && response.req.complete) response.destroy();
}

export function isFullyRead({ complete, headers }: IncomingMessage): boolean {
  return complete || (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0);
}

/**
 * Sends the response to a client that has closed its side of the connection within the body, and closes the other side.
 * Does not end the response, so that the client counts as disconnected: most have left, which looks the same.
 */
function closeAfterSending(response: ApiResponse, bytes: Buffer): void {
  response.write(bytes);
  response.req.socket.destroySoon();
}

/**
 * Sends the response at once. Ends it, which closes the connection, after the request body or a limit: closing with
 * unread input would reset the connection, and the client could miss the response (RFC 9112, 9.6).
 */
function endAfterDiscarding(response: ApiResponse, bytes: Buffer): void {
  response.write(bytes);
  let discarded = 0;
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  response.clientConnection?.takeTurns(response.req);
  response.req
    .on('data', (chunk: Buffer) => {
      discarded += chunk.length;
      if (discarded > DISCARD_BYTES) end();
    })
    .once('end', end)
    .once('error', end);
}

/** Sends an error for input that could not be parsed as a request. */
export function sendUnparsedError(socket: Duplex, { code, details }: ApiError): void {
  if (!socket.writable) return;
  const body = errorBody(code, details);
  const bytes = Buffer.from(JSON.stringify(body));
  const head = [
    `HTTP/1.1 ${String(body.status)} ${STATUS_CODES[body.status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${String(bytes.length)}`,
    `Date: ${new Date().toUTCString()}`,
    ...COMMON_HEADERS.map(([name, value]) => `${name}: ${value}`),
    `X-Request-Id: ${randomUUID()}`,
    'Connection: close',
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes]));
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
