import { createServer, type Server } from 'node:http';
import type { ApiConfig } from '@app/runtime';
import { ApiRequest, ApiResponse, type ApiListener } from '../api-message.js';
import { IDLE_MS } from './client-connection.js';
import type { Connections } from './connections.js';

/** How long a client may take. A slow client costs one socket and nothing else. */
export interface ClientTimeouts {
  headersMs: number;
  requestMs: number;
  checkEveryMs: number;
  /** How long a client may read nothing of its response. */
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

/** Creates Node's server with our limits. {@link Connections} responds to the errors that Node detects itself. */
export function createHttpServer({ listener, connections, config, timeouts = TIMEOUTS }: HttpServerOptions): Server {
  const options = {
    IncomingMessage: ApiRequest,
    ServerResponse: ApiResponse,
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    connectionsCheckingInterval: timeouts.checkEveryMs,
    keepAliveTimeout: config.keepAliveMs,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Node's own 400 has no body, so the request listener rejects a missing Host.
    requireHostHeader: false,
  };
  const server = createServer(options, listener).setTimeout(IDLE_MS);
  server.maxConnections = config.maxConnections;
  // Node silently drops headers beyond a count, perhaps the Idempotency-Key. Their size in bytes is limited instead.
  server.maxHeadersCount = 0;
  // Node itself would reject an unknown Expect without a body.
  const emitRequest: ApiListener = (request, response) => {
    server.emit('request', request, response);
  };
  server.on('checkContinue', emitRequest).on('checkExpectation', emitRequest);
  server.on('connection', (socket) => {
    connections.add(socket, timeouts.stalledMs);
  });
  server.on('clientError', (error, socket) => {
    connections.refuse(error, socket);
  });
  server.on('connect', (_request, socket) => {
    connections.refuseTunnel(socket);
  });
  // A plain Server could be made to handle other requests. This one only handles the requests that it creates.
  return server as unknown as Server;
}
