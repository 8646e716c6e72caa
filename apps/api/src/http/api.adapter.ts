import type { Server } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { ApiConfig } from '@app/runtime';
import { sendJson, type ApiResponse } from './api-message.js';
import { Connections } from './connections.js';
import { crossOrigin } from './cors.js';
import type { ErrorFilter } from './error.filter.js';
import { requestListener, type Handler } from './request-listener.js';
import { createHttpServer, type ClientTimeouts } from './server.js';

/** Counted from the start of closing. Creates have ended by then, so clients that remain do not send or do not read. */
const CUT_OFF_MS = 7000;

/**
 * Nest's HTTP adapter with our own {@link requestListener} and {@link sendJson}. The listener calls Nest's handlers
 * itself, because Express would search all routes for each request.
 */
export class ApiAdapter extends ExpressAdapter {
  private readonly connections = new Connections();
  private readonly routes = new Map<string, Map<string, Handler>>();
  private isDraining = false;

  constructor(
    private readonly config: ApiConfig,
    private readonly errors: ErrorFilter,
    private readonly timeouts: ClientTimeouts | undefined,
  ) {
    // Replaces the Express application. Any other use of it fails at startup.
    super({ use: () => undefined });
  }

  /** The current response of each connection. */
  get pendingResponses(): Connections['pendingResponses'] {
    return this.connections.pendingResponses;
  }

  /** Closes each connection after its response from now on, so that clients reconnect to another instance. */
  drain(): void {
    this.isDraining = true;
  }

  override initHttpServer(): void {
    const { config, connections, errors, timeouts, routes } = this;
    const listener = requestListener({
      connections,
      errors,
      maxBodyBytes: config.maxBodyBytes,
      crossOrigin: crossOrigin(config.corsOrigins),
      isDraining: () => this.isDraining,
      routes,
    });
    this.httpServer = createHttpServer({ listener, connections, config, timeouts });
  }

  override get(path: unknown, handler?: unknown): void {
    this.route(['GET', 'HEAD'], path, handler);
  }

  override post(path: unknown, handler?: unknown): void {
    this.route(['POST'], path, handler);
  }

  override use(): never {
    throw new Error('middleware is never called: the request listener takes every request');
  }

  override createMiddlewareFactory(): never {
    return this.use();
  }

  /** Unused: the request listener rejects unknown paths, and {@link ErrorFilter} handles what handlers throw. */
  override setNotFoundHandler(): void {
    return;
  }

  override setErrorHandler(): void {
    return;
  }

  override status(response: ApiResponse, status: number): void {
    response.statusCode = status;
  }

  override reply(response: ApiResponse, body: unknown, status?: number): void {
    sendJson(response, status ?? response.statusCode, body);
  }

  /** Accepts no more connections, and waits until the active ones have their responses. */
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

  private route(methods: string[], path: unknown, handler: unknown): void {
    if (typeof path !== 'string' || /[:*{(]/.test(path))
      throw new Error(`only fixed paths have routes: ${String(path)}`);
    const handlers = this.routes.get(path) ?? new Map<string, Handler>();
    this.routes.set(path, handlers);
    for (const method of methods) handlers.set(method, handler as Handler);
  }
}
