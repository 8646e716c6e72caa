import type { IncomingMessage } from 'node:http';
import { isTooComplex, MAX_JSON, parseExactJson } from '@app/contracts';
import { EventLoopTurns } from '@app/runtime';
import type { ApiResponse } from '../api-message.js';
import { GrowingBuffer } from './growing-buffer.js';
import { ApiError } from '../api-error.js';
import { operationOf } from '../operation.js';
import type { NewConnections } from './new-connections.js';

const JSON_TYPE = 'application/json';
const TOO_COMPLEX = new ApiError('PAYLOAD_TOO_LARGE', {
  message: `Body too large: at most ${String(MAX_JSON.structures)} objects, arrays and members, and ${String(MAX_JSON.values)} values`,
});
/** Most bodies are smaller. */
const LARGE_BYTES = 16 * 1024;
/**
 * Bodies wait here before they are parsed and validated, because a parsed body is much larger than its text. Each turn of
 * the event loop handles one large body and two other creates, so that reads run in between.
 */
const largeBodies = new EventLoopTurns(1);
const creates = new EventLoopTurns(2);
const decoder = new TextDecoder('utf-8', { fatal: true });

export interface ReadBodyOptions {
  maxBodyBytes: number;
  /** Larger bodies count as memory held for the client until its request has ended. */
  usualBodyBytes: number;
  connections: Pick<NewConnections, 'accepted'>;
}

/** A body that is collected while it arrives. Beyond `maxBytes`, it is dropped. */
export class ArrivingBody {
  readonly bytes: GrowingBuffer;
  /** Resolves at its end, or once it is too large. Never resolves if the client disconnects before. */
  readonly ended: Promise<void>;
  isTooLarge = false;

  constructor(response: ApiResponse, maxBytes: number) {
    const { req: request } = response;
    const bytes = new GrowingBuffer(Number(request.headers['content-length'] ?? Infinity));
    this.bytes = bytes;
    response.clientConnection?.takeTurns(request);
    this.ended = new Promise((resolve) => {
      request.on('error', ignoreDisconnect).on('end', resolve);
      request.on('data', (piece: Buffer) => {
        // After an error response, the rest of the body is dropped.
        if (response.headersSent || this.isTooLarge) return;
        bytes.append(piece);
        if (bytes.length > maxBytes) {
          this.isTooLarge = true;
          bytes.take();
          resolve();
        }
        if (!request.complete) response.clientConnection?.hold(bytes.capacity);
      });
    });
  }
}

/**
 * Reads the body of a request and, once new connections are accepted, parses it. Without a body and a Content-Type, the
 * result is the empty object. Calls neither callback if the client disconnects. A body that is too large is not read to
 * its end.
 *
 * @param onBody called with the parsed body
 * @param onError called with an ApiError if the body is not JSON in UTF-8 of at most `maxBodyBytes`, and with anything that
 * `onBody` throws
 * @param begun the body, if it has been collected from an earlier time on
 * @throws ApiError if the headers alone are reason to reject the request
 */
export function readBody(
  response: ApiResponse,
  { maxBodyBytes: maxBytes, usualBodyBytes, connections }: ReadBodyOptions,
  onBody: (body: unknown) => void,
  onError: (error: unknown) => void,
  begun?: ArrivingBody,
): void {
  const { req: request } = response;
  checkMediaType(request);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  sendContinue(response);
  const arriving = begun ?? new ArrivingBody(response, maxBytes);
  const body = arriving.bytes;
  // Node emits `end` in the async context of the connection. A promise's callback runs in that of the request.
  const accepted = arriving.ended.then(() => connections.accepted);
  const mayParse = accepted.then(() => {
    request.receivedAt = performance.now() - request.checkedForMs;
    const turns = turnsOf(request, body.length);
    if (turns === largeBodies) {
      response.clientConnection?.hold(body.capacity);
      // Frees it if the client disconnects before its turn.
      response.once('close', () => body.take());
    }
    return turns?.next();
  });
  void mayParse.then(() => {
    if (request.socket.destroyed) return;
    try {
      if (arriving.isTooLarge) throw tooLarge(maxBytes);
      response.clientConnection?.hold(body.length > usualBodyBytes ? body.length : 0);
      onBody(body.length === 0 && request.headers['content-type'] === undefined ? {} : parse(body.take()));
    } catch (error) {
      onError(error);
    }
  });
}

function turnsOf({ url = '' }: IncomingMessage, bytes: number): EventLoopTurns | undefined {
  if (bytes > LARGE_BYTES) return largeBodies;
  return operationOf(url) === 'create' ? creates : undefined;
}

function ignoreDisconnect(): void {
  return;
}

function checkMediaType({ headers }: IncomingMessage): void {
  const { 'content-type': type, 'transfer-encoding': transfer } = headers;
  const hasBody = transfer !== undefined || Number(headers['content-length'] ?? 0) > 0;
  const isJson = type === undefined ? !hasBody : isJsonInUtf8(type);
  const coding = headers['content-encoding'] ?? 'identity';
  const isCompressed = coding.toLowerCase() !== 'identity' || (transfer ?? 'chunked').toLowerCase() !== 'chunked';
  if (!isJson || isCompressed) throw new ApiError('UNSUPPORTED_MEDIA_TYPE');
}

function isJsonInUtf8(contentType: string): boolean {
  if (contentType === JSON_TYPE) return true;
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  const charset = parameters.map((parameter) => /^\s*charset\s*=\s*"?([^"\s]*)/.exec(parameter)?.[1]).find(Boolean);
  return type.trim() === JSON_TYPE && (charset === undefined || charset === 'utf-8' || charset === 'utf8');
}

/** Asks a client that waits for it (`Expect: 100-continue`, RFC 9110, 10.1.1) to send its body. */
export function sendContinue(response: ApiResponse): void {
  const { req: request } = response;
  if (request.headers.expect === undefined || request.httpVersion !== '1.1' || request.isContinued) return;
  request.isContinued = true;
  response.writeContinue();
}

function parse(bytes: Buffer): unknown {
  try {
    const text = decoder.decode(bytes);
    if (isTooComplex(text)) throw TOO_COMPLEX;
    return parseExactJson(text);
  } catch (error) {
    if (error === TOO_COMPLEX) throw error;
    throw new ApiError('BAD_REQUEST', { message: 'The body is not valid JSON in UTF-8' });
  }
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', { message: `Body too large: at most ${String(maxBytes)} bytes` });
}
