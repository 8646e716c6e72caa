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

/** Goes on with a request that has come through. */
export type Handler = (request: ApiRequest, response: ApiResponse) => unknown;

/** The handlers by path and method; no path has parameters. */
export type Routes = ReadonlyMap<string, ReadonlyMap<string, Handler>>;

export interface RequestListenerOptions {
  connections: Connections;
  routes: Routes;
  /** What becomes of an error that nobody expected. */
  errors: Pick<ErrorFilter, 'toApiError'>;
  maxBodyBytes: number;
  crossOrigin: CrossOrigin;
  /** Whether the process is about to stop: clients are asked to connect anew, to another instance. */
  isDraining: () => boolean;
}

const SANE_REQUEST_ID = /^[\w.:+/=@-]{1,128}$/;
/** A whole URL, as clients send it to a proxy, is to be taken as well as a path (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?#]*/i;

/**
 * Takes every request before Nest sees it: refuses unknown paths and other methods, gives the request
 * its id and what every answer has, reads the body. Express would read an oversize body to its end and replace bad UTF-8.
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
      if (isHostWrong(request)) throw NOT_HTTP;
      if (handlers === undefined) throw NO_SUCH_PATH;
      const handler = handlers.get(request.method ?? '');
      if (handler === undefined) sendMethodError(response, [...handlers.keys()]);
      else if (request.method !== 'POST') passWithoutBody(response, handler);
      else readBody(response, options.maxBodyBytes, passTo(handler, response), fail);
    } catch (error) {
      fail(error);
    }
  };
  return (_request, response) => {
    options.connections.admit(response, begin);
  };
}

/** Whatever breaks before Nest and its filter see the request is answered and logged as there. */
function sendErrorFor(error: unknown, response: ApiResponse, { errors }: RequestListenerOptions): void {
  const apiError = errors.toApiError(error, response.req);
  if (!response.headersSent) sendEarlyError(response, apiError);
}

function identify(request: ApiRequest, response: ApiResponse, { crossOrigin }: RequestListenerOptions): void {
  const given = request.headers['x-request-id'];
  request.requestId = typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID();
  request.url = request.url?.replace(ORIGIN, '') ?? '/';
  crossOrigin(response);
}

function pathOf({ url = '/' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

/** None, or more than one (RFC 9112, 3.2): Node would silently take the first. */
function isHostWrong({ httpVersion, rawHeaders }: IncomingMessage): boolean {
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

function passWithoutBody(response: ApiResponse, handler: Handler): void {
  dropBody(response);
  handler(response.req, response);
}

/** Nobody wants this body, however long it is; unread, its pieces would be kept. */
function dropBody(response: ApiResponse): void {
  if (isFullyRead(response.req)) return;
  response.setHeader('Connection', 'close');
  response.req.resume();
}

function passTo(handler: Handler, response: ApiResponse): (body: unknown) => void {
  return (body) => {
    // Refused meanwhile, as too slow: what has been answered with an error must not be done.
    if (response.headersSent) return;
    const { input, enveloped } = unwrap(body);
    response.req.body = input;
    response.req.enveloped = enveloped;
    handler(response.req, response);
  };
}
