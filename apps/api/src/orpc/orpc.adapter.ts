import { createServer, type RequestListener, type Server } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import { answer, type ApiResponse } from './answer.js';
import { Connections } from './connections.js';
import { frontDoor, type FrontDoorOptions } from './front-door.js';

/** How long a client may take; a slow one costs one socket and nothing else. */
export interface Patience {
  headersMs: number;
  requestMs: number;
  checkEveryMs: number;
  /** Without a byte in either direction; longer than any create waits. */
  stalledMs?: number;
}

const PATIENCE: Patience = { headersMs: 10_000, requestMs: 30_000, checkEveryMs: 1000 };
const STALLED_MS = 150_000;
/** Longer than the idle time of usual load balancers, which would else race a request against our close. */
const KEEP_ALIVE_MS = 75_000;
const MAX_HEADER_BYTES = 16_384;
/** Since closing began: creates have been answered by then; who is left does not send, or does not read. */
const CUT_OFF_MS = 7000;

/** Nest's host with our own way in, {@link frontDoor}, and our own way out, {@link answer}. */
export class OrpcAdapter extends ExpressAdapter {
  private isDraining = false;

  constructor(
    private readonly maxBodyBytes: number,
    private readonly patience: Patience = PATIENCE,
  ) {
    super();
    this.disable('x-powered-by');
  }

  /** From now on each answer closes its connection: clients connect anew, to another instance. */
  drain(): void {
    this.isDraining = true;
  }

  override initHttpServer(): void {
    const { patience } = this;
    const connections = new Connections();
    const listener = frontDoor({
      connections,
      maxBodyBytes: this.maxBodyBytes,
      isDraining: () => this.isDraining,
      routes: () => this.routes(),
      next: this.getInstance<FrontDoorOptions['next']>(),
    });
    const limits = {
      headersTimeout: patience.headersMs,
      requestTimeout: patience.requestMs,
      connectionsCheckingInterval: patience.checkEveryMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      // Node's own refusals have no body: a missing host, like an unknown Expect, is left to the front door.
      requireHostHeader: false,
    };
    const server = createServer(limits, listener).setTimeout(patience.stalledMs ?? STALLED_MS);
    const asUsual: RequestListener = (request, response) => {
      server.emit('request', request, response);
    };
    server.on('checkContinue', asUsual).on('checkExpectation', asUsual);
    server.on('clientError', (error, socket) => {
      connections.refuse(error, socket);
    });
    this.httpServer = server;
  }

  override reply(response: ApiResponse, body: unknown, status?: number): void {
    answer(response, status ?? response.statusCode, body);
  }

  /** Takes no more connections and waits until those that are busy have been answered. */
  override close(): Promise<void> {
    const server = this.httpServer as Server;
    const cutOff = setTimeout(() => {
      server.closeAllConnections();
    }, CUT_OFF_MS);
    return new Promise((resolve) => {
      server.close(() => {
        clearTimeout(cutOff);
        resolve();
      });
    });
  }

  /** What Nest has registered with Express: the methods of each path. */
  private routes(): Map<string, string[]> {
    const { router } = this.getInstance<{ router: { stack: RouterLayer[] } }>();
    const routes = new Map<string, string[]>();
    for (const { route } of router.stack) {
      if (route === undefined) continue;
      const methods = Object.keys(route.methods).map((method) => method.toUpperCase());
      const known = routes.get(route.path) ?? [];
      routes.set(route.path, [...known, ...methods, ...(methods.includes('GET') ? ['HEAD'] : [])]);
    }
    return routes;
  }
}

interface RouterLayer {
  route?: { path: string; methods: Record<string, boolean> };
}
