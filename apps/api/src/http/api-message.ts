import { IncomingMessage, ServerResponse, type OutgoingHttpHeader, type OutgoingHttpHeaders } from 'node:http';
import { errorBody, type ErrorCode } from '@app/contracts';
import express, { type Express } from 'express';
import type { Access } from '../auth/access.js';
import type { Principal } from '../auth/principal.js';
import { Json } from '../orpc/json.js';
import type { ApiErrorDetails } from './api-error.js';
import { COMMON_HEADERS } from './headers/security-headers.js';

/** The connection of a request. The process holds memory for it. */
export interface RequestConnection {
  /** Lets other connections read while the body of a request arrives in many chunks. */
  takeTurns(request: IncomingMessage): void;
  /** Sets how many bytes the process holds for the current request. */
  hold(bytes: number): void;
  /** Sets how many bytes it holds until the client has read the response. Clients may hold the same memory. */
  holdUntilRead(bytes: number, memory: object): void;
}

/** A request on its way from the request listener to its controller. */
export class ApiRequest extends IncomingMessage {
  /** When its head arrived, in ms of `performance.now()`. */
  readonly arrivedAt = performance.now();
  /** When its body was read, less `checkedForMs`, in ms of `performance.now()`. Requests are timed from here. */
  receivedAt = this.arrivedAt;
  /** How long the check of its caller took, in ms. Part of the time of a read and of the wait of a create. */
  checkedForMs = 0;
  /** The id in all log lines about this request. */
  requestId = '';
  /** The caller, if it sent a valid credential. */
  principal?: Principal | undefined;
  /** What the caller has been allowed to do. */
  access?: Access;
  /** Whether it counts towards the rate limits of the caller. */
  isCounted = false;
  /** Whether the client has been asked for its body. */
  isContinued = false;
  /** Whether the body has been read. */
  isRead = false;
  /** The parsed input, without its envelope. */
  body?: unknown;
  /** Whether the input came as `{"json": …}`. The response then has the same form. */
  enveloped = false;
  /** The handler that the fast lane has called before Express, and what it has passed to `next`. */
  calledHandler?: unknown;
  passedError?: unknown;

  // Set by Express, or by the fast lane in its place.
  declare app?: Express;
  declare res?: ApiResponse;
  declare next?: (error?: unknown) => void;
  declare originalUrl?: string | undefined;
  declare baseUrl?: string;
  declare params?: object;
  declare route?: object;
}

const FLAT_HEADERS = COMMON_HEADERS.flat();

/** A response that always has the common headers and the request id, even if Node writes it itself. */
export class ApiResponse extends ServerResponse<ApiRequest> {
  /** The connection that it is sent on. Set once the request's turn comes. */
  clientConnection: RequestConnection | undefined = undefined;

  // Set by Express, or by the fast lane in its place.
  declare app?: Express;
  declare locals?: object;

  /** Adds the request id, and the common headers that have not been set. Node calls this itself if nothing else has. */
  override writeHead(status: number, ...[reason, more]: [WriteHeaders?, OutgoingHttpHeaders?]): this {
    if (Array.isArray(reason) && this.getHeaderNames().length === 0)
      return super.writeHead(status, [...reason, 'X-Request-Id', this.req.requestId, ...FLAT_HEADERS]);
    const headers = typeof reason === 'string' ? more : (reason ?? more);
    for (const [name, value] of pairsOf(headers ?? {})) if (value !== undefined) this.setHeader(name, value);
    this.setHeader('X-Request-Id', this.req.requestId);
    for (const [name, value] of COMMON_HEADERS) if (!this.hasHeader(name)) this.setHeader(name, value);
    return typeof reason === 'string' ? super.writeHead(status, reason) : super.writeHead(status);
  }

  override end(...body: unknown[]): this {
    super.end(...(body as [unknown]));
    const [bytes] = body;
    const memory = Buffer.isBuffer(bytes) ? bytes : this;
    if (this.writableLength > 0) this.clientConnection?.holdUntilRead(this.writableLength, memory);
    return this;
  }
}

type WriteHeaders = string | OutgoingHttpHeaders | OutgoingHttpHeader[];

/** Returns the names and values of headers that are an object or a flat array. */
function pairsOf(headers: OutgoingHttpHeaders | OutgoingHttpHeader[]): [string, OutgoingHttpHeader | undefined][] {
  if (!Array.isArray(headers)) return Object.entries(headers);
  return headers.flatMap((name, at) => (at % 2 === 0 ? [[String(name), headers[at + 1]]] : []));
}

// Handlers get the same objects whether or not Express has handled the request. A subclass would make them slower.
Object.defineProperties(ApiRequest.prototype, Object.getOwnPropertyDescriptors(express.request));
Object.defineProperties(ApiResponse.prototype, Object.getOwnPropertyDescriptors(express.response));

/** Measures or logs requests. */
export interface ResponseObserver {
  /** Called when the head of a request has arrived, with its response, which emits `close` at its end. */
  observe(response: ApiResponse): void;
}

/** Listens for the requests of a server. */
export type ApiListener = (request: ApiRequest, response: ApiResponse) => void;

/** Writes the bytes of a response, and ends it or closes its connection. */
type Finish = (response: ApiResponse, bytes: Buffer) => void;

const end: Finish = (response, bytes) => {
  response.end(bytes);
};

/** Sends a body, serialized or not, in the form of the request. */
export function sendJson(response: ApiResponse, status: number, body: unknown, finish = end): void {
  // Already rejected as invalid HTTP or as too slow.
  if (response.headersSent) return;
  const json = body instanceof Json ? body : Json.of(body);
  const bytes = json.toBytes(response.req.enveloped);
  const length = String(bytes.length);
  response.writeHead(status, ['Content-Type', 'application/json; charset=utf-8', 'Content-Length', length]);
  finish(response, bytes);
}

/** Sends the error body that all errors share. */
export function sendError(response: ApiResponse, code: ErrorCode, details: ApiErrorDetails = {}, finish = end): void {
  const { headers = {}, ...more } = details;
  const body = errorBody(code, more);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  sendJson(response, body.status, body, finish);
}
