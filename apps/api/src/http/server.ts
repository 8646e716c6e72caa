import { createServer, type Server } from 'node:http';
import type { ApiConfig } from '@app/runtime';
import { ApiRequest, ApiResponse, type ApiListener } from './api-message.js';
import { IDLE_MS } from './client-connection.js';
import type { Connections } from './connections.js';

/** How long a client may take; a slow one costs one socket and nothing else. */
export interface ClientTimeouts {
  headersMs: number;
  requestMs: number;
  checkEveryMs: number;
  /** Without taking any of its answer. */
  stalledMs?: number;
}

const TIMEOUTS: ClientTimeouts = { headersMs: 10_000, requestMs: 30_000, checkEveryMs: 1000 };
const MAX_HEADER_BYTES = 16_384;

export interface HttpServerOptions {
  listener: ApiListener;
  connections: Connections;
  config: Pick<ApiConfig, 'keepAliveMs' | 'maxConnections'>;
  timeouts: ClientTimeouts | undefined;
}

/** Node's server within our limits; whatever it would refuse by itself, {@link Connections} answers. */
export function createHttpServer({ listener, connections, config, timeouts = TIMEOUTS }: HttpServerOptions): Server {
  const options = {
    IncomingMessage: ApiRequest,
    ServerResponse: ApiResponse,
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    connectionsCheckingInterval: timeouts.checkEveryMs,
    keepAliveTimeout: config.keepAliveMs,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Node's own refusals have no body: a missing host, like an unknown Expect, is left to the request listener.
    requireHostHeader: false,
  };
  const server = createServer(options, listener).setTimeout(IDLE_MS);
  server.maxConnections = config.maxConnections;
  // They are limited in bytes: those beyond a count would be dropped without a word, an Idempotency-Key among them.
  server.maxHeadersCount = 0;
  const asUsual: ApiListener = (request, response) => {
    server.emit('request', request, response);
  };
  server.on('checkContinue', asUsual).on('checkExpectation', asUsual);
  server.on('connection', (socket) => {
    connections.add(socket, timeouts.stalledMs);
  });
  server.on('clientError', (error, socket) => {
    connections.refuse(error, socket);
  });
  server.on('connect', (_request, socket) => {
    connections.refuseTunnel(socket);
  });
  // A plain Server could be given other requests to answer; this one makes its own.
  return server as unknown as Server;
}
