import type { IncomingMessage } from 'node:http';
import { answerError, type ApiResponse } from './answer.js';
import type { Refusal } from './refusal.js';

const DISCARD_BYTES = 4 * 1024 * 1024;
const DISCARD_MS = 2000;

/** Refuses a request without reading its body to the end. */
export function refuse(response: ApiResponse, { code, details }: Refusal): void {
  if (isFullyRead(response.req)) {
    answerError(response, code, details);
    return;
  }
  response.shouldKeepAlive = false;
  answerError(response, code, details, endAfterDiscarding);
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
  // What still comes is counted here, and no longer collected as a body.
  response.req.onPiece = undefined;
  let discarded = 0;
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, DISCARD_MS);
  response.req
    .on('data', (chunk: Buffer) => {
      discarded += chunk.length;
      if (discarded > DISCARD_BYTES) end();
    })
    .once('end', end)
    .once('error', end);
}
