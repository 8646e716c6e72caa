import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ApiListener, ApiRequest, ApiResponse } from './api-message.js';
import type { Begin } from './client-connection.js';
import { NO_SUCH_PATH, NOT_HTTP, type Connections } from './connections.js';
import type { CrossOrigin } from './cors.js';
import { isFullyRead, sendEarlyError } from './early-error.js';
import { unwrap } from '../orpc/envelope.js';
import type { ErrorFilter } from './error.filter.js';
import { readBody } from './read-body.js';
import { ApiError } from './api-error.js';

/** Handles a request that has passed the listener's checks. */
export type Handler = (request: ApiRequest, response: ApiResponse) => unknown;

/** The handlers by path and method. Paths have no parameters. */
export type Routes = ReadonlyMap<string, ReadonlyMap<string, Handler>>;

export interface RequestListenerOptions {
  connections: Connections;
  routes: Routes;
  /** Maps thrown errors to API errors, and logs the unexpected ones. */
  errors: Pick<ErrorFilter, 'toApiError'>;
  maxBodyBytes: number;
  crossOrigin: CrossOrigin;
  /** Whether the process is about to stop. Responses then close the connection, so that clients reconnect elsewhere. */
  isDraining: () => boolean;
}

const REQUEST_ID = /^[\w.:+/=@-]{1,128}$/;
/** Clients send a whole URL to a proxy, and a server must accept it as well as a path (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?#]*/i;

/**
 * Returns the listener that takes every request before Nest does. It rejects unknown paths and methods, sets the
 * request id and CORS headers, and reads the body. Express would read an oversized body to its end, and replace invalid
 * UTF-8.
 */
export function requestListener(options: RequestListenerOptions): ApiListener {
  const begin: Begin = (response) => {
    const { req: request } = response;
    if (options.isDraining()) response.setHeader('Connection', 'close');
    const fail = (error: unknown): void => {
      sendErrorFor(error, response, options);
    };
    try {
      identify(request, response, options);
      const handlers = options.routes.get(pathOf(request));
      if (isHostInvalid(request)) throw NOT_HTTP;
      if (handlers === undefined) throw NO_SUCH_PATH;
      const handler = handlers.get(request.method ?? '');
      if (handler === undefined) sendMethodError(response, [...handlers.keys()]);
      else if (request.method !== 'POST') callWithoutBody(handler, response);
      else readBody(response, options.maxBodyBytes, callWithBody(handler, response), fail);
    } catch (error) {
      fail(error);
    }
  };
  return (_request, response) => {
    options.connections.admit(response, begin);
  };
}

/** Logs and sends an error in the same way as Nest's filter, which has not seen the request yet. */
function sendErrorFor(error: unknown, response: ApiResponse, { errors }: RequestListenerOptions): void {
  const apiError = errors.toApiError(error, response.req);
  if (!response.headersSent) sendEarlyError(response, apiError);
}

function identify(request: ApiRequest, response: ApiResponse, { crossOrigin }: RequestListenerOptions): void {
  const given = request.headers['x-request-id'];
  request.requestId = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
  request.url = request.url?.replace(ORIGIN, '') ?? '/';
  crossOrigin(response);
}

function pathOf({ url = '/' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

/** Returns whether `Host` is missing or repeated (RFC 9112, 3.2). Node would silently use the first. */
function isHostInvalid({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count > 1 || (count === 0 && httpVersion === '1.1');
}

function sendMethodError(response: ApiResponse, methods: string[]): void {
  response.setHeader('Allow', [...methods, 'OPTIONS'].join(', '));
  if (response.req.method !== 'OPTIONS') {
    sendEarlyError(response, new ApiError('METHOD_NOT_SUPPORTED'));
    return;
  }
  dropBody(response);
  response.statusCode = 204;
  response.end();
}

function callWithoutBody(handler: Handler, response: ApiResponse): void {
  dropBody(response);
  handler(response.req, response);
}

/** Discards the body, however long it is. Unread chunks would stay in memory. */
function dropBody(response: ApiResponse): void {
  if (isFullyRead(response.req)) return;
  response.setHeader('Connection', 'close');
  response.req.resume();
}

function callWithBody(handler: Handler, response: ApiResponse): (body: unknown) => void {
  return (body) => {
    // Already rejected as too slow. A request that got an error response must not be executed.
    if (response.headersSent) return;
    const { input, enveloped } = unwrap(body);
    response.req.body = input;
    response.req.enveloped = enveloped;
    handler(response.req, response);
  };
}
