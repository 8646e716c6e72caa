import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { ApiRequest, ApiResponse } from './answer.js';
import { NOT_HTTP, type Connections } from './connections.js';
import { isFullyRead, refuse } from './early-refusal.js';
import { unwrap } from './envelope.js';
import { readBody } from './read-body.js';
import { Refusal } from './refusal.js';

export interface FrontDoorOptions {
  connections: Connections;
  /** The methods of each path that exists, asked for at the first request. */
  routes: () => Map<string, string[]>;
  maxBodyBytes: number;
  /** Whether the process is about to stop: clients are asked to connect anew, to another instance. */
  isDraining: () => boolean;
  /** Goes on with a request that has come through. */
  next: (request: ApiRequest, response: ApiResponse) => void;
}

const SANE_REQUEST_ID = /^[\w.:+/=@-]{1,128}$/;
/** A whole URL, as clients send it to a proxy, is to be taken as well as a path (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?#]*/i;

/**
 * Takes every request before Nest sees it: refuses unknown paths and other methods, gives the request
 * its id, reads the body. Express would read an oversize body to its end and replace bad UTF-8.
 */
export function frontDoor(options: FrontDoorOptions): RequestListener {
  let routes: Map<string, string[]> | undefined;
  return (incoming, outgoing) => {
    const request = incoming as ApiRequest;
    const response = outgoing as ApiResponse;
    if (!options.connections.admit(response)) return;
    if (options.isDraining()) response.shouldKeepAlive = false;
    identify(request, response);

    routes ??= options.routes();
    const methods = routes.get(pathOf(request));
    if (isHostMissing(request)) refuse(response, NOT_HTTP);
    else if (methods === undefined) refuse(response, new Refusal('NOT_FOUND', { message: 'No such path' }));
    else if (!methods.includes(request.method ?? '')) refuseMethod(response, methods);
    else if (request.method === 'POST') takeBody(response, options);
    else passWithoutBody(response, options);
  };
}

function identify(request: ApiRequest, response: ApiResponse): void {
  const given = request.headers['x-request-id'];
  request.requestId = typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID();
  request.url = request.url?.replace(ORIGIN, '') ?? '/';
  response.setHeader('X-Request-Id', request.requestId);
  response.setHeader('Cache-Control', 'no-store');
}

function pathOf({ url = '/' }: IncomingMessage): string {
  const [path = '/'] = url.split('?', 1);
  return path;
}

function isHostMissing({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.host === undefined;
}

function refuseMethod(response: ApiResponse, methods: string[]): void {
  response.setHeader('Allow', [...methods, 'OPTIONS'].join(', '));
  if (response.req.method !== 'OPTIONS') {
    refuse(response, new Refusal('METHOD_NOT_SUPPORTED'));
    return;
  }
  closeIfUnread(response);
  response.statusCode = 204;
  response.end();
}

function passWithoutBody(response: ApiResponse, { next }: FrontDoorOptions): void {
  closeIfUnread(response);
  next(response.req, response);
}

/** Nobody will read this body, however long it is. */
function closeIfUnread(response: ApiResponse): void {
  if (!isFullyRead(response.req)) response.shouldKeepAlive = false;
}

function takeBody(response: ApiResponse, { maxBodyBytes, next }: FrontDoorOptions): void {
  readBody(response, maxBodyBytes).then(
    (body) => {
      // Refused meanwhile, as too slow: what has been answered with an error must not be done.
      if (response.headersSent) return;
      const { input, enveloped } = unwrap(body);
      response.req.body = input;
      response.req.enveloped = enveloped;
      next(response.req, response);
    },
    (error: unknown) => {
      if (error instanceof Refusal && !response.headersSent) refuse(response, error);
    },
  );
}
