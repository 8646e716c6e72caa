import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ApiListener, ApiRequest, ApiResponse, ResponseObserver } from './api-message.js';
import type { HandleRequest } from './connections/client-connection.js';
import { NO_SUCH_PATH, NOT_HTTP, type Connections } from './connections/connections.js';
import { countHeader } from './headers/count-header.js';
import type { CrossOrigin } from './headers/cors.js';
import { cutOff, isFullyRead, sendEarlyError } from './connections/early-error.js';
import { unwrap } from '../orpc/envelope.js';
import type { ErrorFilter } from './error.filter.js';
import { isForOrpc } from './operation.js';
import type { FastLane, NextFunction, RequestHandler } from './fast-lane.js';
import { ArrivingBody, readBody, sendContinue, type ReadBodyOptions } from './connections/read-body.js';
import { ApiError } from './api-error.js';

export interface RequestListenerOptions extends ReadBodyOptions {
  connections: Connections;
  lane: FastLane;
  /** Maps thrown errors to API errors, and logs the unexpected ones. */
  errors: Pick<ErrorFilter, 'toApiError'>;
  /** What measures and logs requests. */
  observers: readonly ResponseObserver[];
  crossOrigin: CrossOrigin;
  /** Rejects a request before its body is read, by an ApiError. Undefined if anyone may send any request. */
  checkAccess?: (response: ApiResponse) => Promise<void>;
  /**
   * Returns whether the process is about to stop. Responses then close the connection, so that clients reconnect
   * elsewhere.
   */
  isDraining: () => boolean;
}

const REQUEST_ID = /^[\w.:+/=@-]{1,128}$/;
/** Clients send a whole URL to a proxy, and a server must accept it as well as a path (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?#]*/i;

/**
 * Returns the listener that receives every request first. It sets the request id and CORS headers, and then calls the
 * handler of a fixed path, or passes the request to Express. Either way, {@link prepareInput} reads the body: Express's
 * own parser would read an oversized body to its end, and replace invalid UTF-8.
 */
export function requestListener(options: RequestListenerOptions): ApiListener {
  const handle: HandleRequest = (response) => {
    const { req: request } = response;
    if (options.isDraining()) response.setHeader('Connection', 'close');
    const fail = (error: unknown): void => {
      sendErrorFor(error, response, options);
    };
    try {
      identify(request, response, options);
      if (isHostInvalid(request) || hasFragment(request)) throw NOT_HTTP;
      if (!options.lane.isOn || options.lane.isCovered(pathOf(request))) passToExpress(response, options);
      else handleOnFastLane(response, options);
    } catch (error) {
      fail(error);
    }
  };
  return (_request, response) => {
    for (const observer of options.observers) observer.observe(response);
    options.connections.admit(response, handle);
  };
}

/** Calls the handler of a fixed path without Express. */
function handleOnFastLane(response: ApiResponse, options: RequestListenerOptions): void {
  const { req: request } = response;
  const path = pathOf(request);
  const handler = options.lane.handlersOf(path)?.get(request.method ?? '');
  if (handler === undefined) {
    sendNoRoute(response, options);
    return;
  }
  // Called with an error, or without one by a handler of another API version.
  const next: NextFunction = (error) => {
    request.calledHandler = handler;
    request.passedError = error;
    passToExpress(response, options);
  };
  options.lane.prepare(request, response, path, next);
  prepareInput(request, response, options, () => {
    void call(handler, request, response, next);
  });
}

async function call(
  handler: RequestHandler,
  request: ApiRequest,
  response: ApiResponse,
  next: NextFunction,
): Promise<void> {
  try {
    await handler(request, response, next);
  } catch (error) {
    next(error);
  }
}

function passToExpress(response: ApiResponse, options: RequestListenerOptions): void {
  const { req: request } = response;
  // Middleware may read the body itself. Otherwise, `readBody` asks the client for it, or refuses the request.
  if (options.lane.isCovered(pathOf(request))) sendContinue(response);
  options.lane.handle(request, response, (error) => {
    if (error === undefined || error === null) sendNoRoute(response, options);
    else sendErrorFor(error, response, options);
  });
}

/** Checks the caller of a request and its limits, and then reads its input. */
export function prepareInput(
  request: ApiRequest,
  response: ApiResponse,
  options: RequestListenerOptions,
  next: NextFunction,
): void {
  if (options.checkAccess === undefined) {
    readInput(request, response, options, next);
    return;
  }
  // Collects chunks that arrive meanwhile: Node holds much more memory for each that nobody reads.
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  const begun = isChunked && isUnread(request) ? new ArrivingBody(response, options.maxBodyBytes) : undefined;
  const since = performance.now();
  const readUnlessRejected = (): void => {
    request.checkedForMs = performance.now() - since;
    // Already rejected as too slow.
    if (!response.headersSent) readInput(request, response, options, next, begun);
  };
  const fail = (error: unknown): void => {
    // A body that arrives with the head has ended then, and the connection can be kept.
    setImmediate(() => {
      sendErrorFor(error, response, options);
    });
  };
  void options.checkAccess(response).then(readUnlessRejected).catch(fail);
}

/** Reads and parses the body of a request, and removes its envelope. Does nothing if the body has been read before. */
function readInput(
  request: ApiRequest,
  response: ApiResponse,
  options: RequestListenerOptions,
  next: NextFunction,
  begun?: ArrivingBody,
): void {
  if (request.isRead) {
    next();
    return;
  }
  const onBody = (body: unknown): void => {
    // Already rejected as too slow. A request that got an error response must not be executed.
    if (response.headersSent) return;
    request.isRead = true;
    const { input, enveloped } = isForOrpc(request.url ?? '') ? unwrap(body) : { input: body, enveloped: false };
    request.body = input;
    request.enveloped = enveloped;
    next();
  };
  // Middleware has read it.
  if (begun === undefined && (request.body !== undefined || request.readableEnded)) onBody(request.body);
  else if (request.method === 'GET' || request.method === 'HEAD') {
    request.isRead = true;
    dropBody(response);
    next();
  } else {
    const fail = (error: unknown): void => {
      sendErrorFor(error, response, options);
    };
    try {
      readBody(response, options, onBody, fail, begun);
    } catch (error) {
      fail(error);
    }
  }
}

/** Returns whether the body of a request is still to be read by {@link readInput}. */
function isUnread({ isRead, body, readableEnded, method }: ApiRequest): boolean {
  return !isRead && body === undefined && !readableEnded && method !== 'GET' && method !== 'HEAD';
}

/**
 * Responds to a request that no handler has taken: 405 (204 to OPTIONS) if the path has handlers for other methods,
 * otherwise 404.
 */
export function sendNoRoute(response: ApiResponse, options: RequestListenerOptions): void {
  const { method = '' } = response.req;
  const handlers = options.lane.handlersOf(pathOf(response.req));
  if (handlers === undefined || handlers.has(method)) sendEarlyError(response, NO_SUCH_PATH);
  else sendMethodError(response, [...handlers.keys()]);
}

/** Logs and sends an error in the same way as Nest's filter, which has not seen the request yet. */
function sendErrorFor(error: unknown, response: ApiResponse, { errors }: RequestListenerOptions): void {
  const apiError = errors.toApiError(error, response.req);
  if (!response.headersSent) sendEarlyError(response, apiError);
  else cutOff(response);
}

function identify(request: ApiRequest, response: ApiResponse, { crossOrigin }: RequestListenerOptions): void {
  const given = request.headers['x-request-id'];
  request.requestId = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
  const url = request.url?.replace(ORIGIN, '') ?? '';
  request.url = url.startsWith('/') || url === '*' ? url : `/${url}`;
  crossOrigin(response);
}

/** Returns the path of a request without its query. */
export function pathOf({ url = '/' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

/** Returns whether `Host` is missing or repeated (RFC 9112, 3.2). Node would silently use the first. */
function isHostInvalid(request: IncomingMessage): boolean {
  const count = countHeader(request, 'host');
  return count > 1 || (count === 0 && request.httpVersion === '1.1');
}

/** Returns whether the target has a fragment (RFC 9112, 3.2). Express would ignore it, and other parts would not. */
function hasFragment({ url = '' }: IncomingMessage): boolean {
  return url.includes('#');
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

/** Discards the body, however long it is. Unread chunks would stay in memory. */
function dropBody(response: ApiResponse): void {
  if (isFullyRead(response.req)) return;
  response.setHeader('Connection', 'close');
  response.clientConnection?.takeTurns(response.req);
  response.req.resume();
}
