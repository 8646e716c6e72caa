import type { Server } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { ApiConfig } from '@app/runtime';
import { answer, type ApiResponse } from './answer.js';
import { Connections } from './connections.js';
import { crossOrigin } from './cross-origin.js';
import type { ErrorFilter } from './error.filter.js';
import { frontDoor, type Handler } from './front-door.js';
import { createHttpServer, type Patience } from './http-server.js';

/** Since closing began: creates have been answered by then; who is left does not send, or does not read. */
const CUT_OFF_MS = 7000;

/**
 * Nest's host with our own way in, {@link frontDoor}, and our own way out, {@link answer}. The front door calls Nest's
 * handlers itself: Express would look for each through all routes, and has nothing left to do.
 */
export class OrpcAdapter extends ExpressAdapter {
  private readonly connections = new Connections();
  private readonly routes = new Map<string, Map<string, Handler>>();
  private isDraining = false;

  constructor(
    private readonly config: ApiConfig,
    private readonly errors: ErrorFilter,
    private readonly patience: Patience | undefined,
  ) {
    // In place of an Express application: whoever asks it for more fails at the start.
    super({ use: () => undefined });
  }

  /** The latest response that is under way on each connection. */
  get unanswered(): Connections['unanswered'] {
    return this.connections.unanswered;
  }

  /** From now on each answer closes its connection: clients connect anew, to another instance. */
  drain(): void {
    this.isDraining = true;
  }

  override initHttpServer(): void {
    const { config, connections, errors, patience, routes } = this;
    const listener = frontDoor({
      connections,
      errors,
      maxBodyBytes: config.maxBodyBytes,
      crossOrigin: crossOrigin(config.corsOrigins),
      isDraining: () => this.isDraining,
      routes,
    });
    this.httpServer = createHttpServer({ listener, connections, config, patience });
  }

  override get(path: unknown, handler?: unknown): void {
    this.route(['GET', 'HEAD'], path, handler);
  }

  override post(path: unknown, handler?: unknown): void {
    this.route(['POST'], path, handler);
  }

  override use(): never {
    throw new Error('middleware is never called: requests come through the front door');
  }

  override createMiddlewareFactory(): never {
    return this.use();
  }

  /** The front door refuses what has no route, and {@link ErrorFilter} answers what is thrown behind it. */
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

  private route(methods: string[], path: unknown, handler: unknown): void {
    if (typeof path !== 'string' || /[:*{(]/.test(path))
      throw new Error(`only fixed paths have routes: ${String(path)}`);
    const handlers = this.routes.get(path) ?? new Map<string, Handler>();
    this.routes.set(path, handlers);
    for (const method of methods) handlers.set(method, handler as Handler);
  }
}
