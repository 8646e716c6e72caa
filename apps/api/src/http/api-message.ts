import { IncomingMessage, ServerResponse, type OutgoingHttpHeader, type OutgoingHttpHeaders } from 'node:http';
import { ERRORS, errorBody, type ErrorCode } from '@app/contracts';
import { Json } from '../orpc/json.js';
import type { ApiErrorDetails } from './api-error.js';
import { STANDING_HEADERS } from './security-headers.js';

/** The connection of a request, for which the process keeps memory. */
export interface Client {
  /** Sets how many bytes the process keeps for the request under way. */
  hold(bytes: number): void;
  /** Sets how many it keeps until the client has read its answer. */
  holdUntilRead(bytes: number): void;
}

/** A request on its way from the request listener to its controller. */
export class ApiRequest extends IncomingMessage {
  /** When its head arrived, in ms of `performance.now()`: deadlines count from here. */
  readonly arrivedAt = performance.now();
  /** When its body had been read, in ms of `performance.now()`. */
  receivedAt = this.arrivedAt;
  /** The id that all log lines about this request carry. */
  requestId = '';
  /** The parsed input, without its envelope. */
  body?: unknown;
  /** Whether the input came as `{"json": …}`, and so must the answer. */
  enveloped = false;
}

const STANDING = STANDING_HEADERS.flat();

/** Whoever answers, and whatever: with the standing headers and the id of the request. */
export class ApiResponse extends ServerResponse<ApiRequest> {
  /** The connection that it is sent on, once it is its turn. */
  client: Client | undefined = undefined;

  /** Node calls it itself where nobody has. @param headers names and values in turn */
  override writeHead(status: number, headers: string | OutgoingHttpHeaders | OutgoingHttpHeader[] = []): this {
    if (!Array.isArray(headers)) throw new TypeError('headers have to be a list of names and values');
    return super.writeHead(status, [...headers, 'X-Request-Id', this.req.requestId, ...STANDING]);
  }

  override end(...body: unknown[]): this {
    super.end(...(body as [unknown]));
    if (this.writableLength > 0) this.client?.holdUntilRead(this.writableLength);
    return this;
  }
}

/** Takes the requests of a server. */
export type ApiListener = (request: ApiRequest, response: ApiResponse) => void;

/** How the bytes of an answer leave, the response ended with them or later. */
type Finish = (response: ApiResponse, bytes: Buffer) => void;

const end: Finish = (response, bytes) => {
  response.end(bytes);
};

/** Answers a body, serialized or not, in the form the request had. */
export function sendJson(response: ApiResponse, status: number, body: unknown, finish = end): void {
  // Refused meanwhile, as not valid HTTP or too slow.
  if (response.headersSent) return;
  const json = body instanceof Json ? body : Json.of(body);
  const bytes = json.toBytes(response.req.enveloped);
  const length = String(bytes.length);
  response.writeHead(status, ['Content-Type', 'application/json; charset=utf-8', 'Content-Length', length]);
  finish(response, bytes);
}

/** Answers the one error body. */
export function sendError(response: ApiResponse, code: ErrorCode, details: ApiErrorDetails = {}, finish = end): void {
  const { headers = {}, ...more } = details;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  sendJson(response, ERRORS[code].status, errorBody(code, more), finish);
}
