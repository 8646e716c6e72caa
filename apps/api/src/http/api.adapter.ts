import type { Server } from 'node:http';
import { StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { ApiConfig } from '@app/runtime';
import { sendJson, type ApiRequest, type ApiResponse } from './api-message.js';
import { Connections } from './connections/connections.js';
import { crossOrigin } from './headers/cors.js';
import { FastLane, type NextFunction } from './fast-lane.js';
import { pathOf, prepareInput, requestListener, sendNoRoute, type RequestListenerOptions } from './request-listener.js';
import { traceRequests } from './request-spans.js';
import { createHttpServer, type ClientTimeouts } from './connections/server.js';

/** Counted from the start of closing. Creates have ended by then, so clients that remain neither send nor read. */
const CUT_OFF_MS = 7000;
const CLOSE_IDLE_EVERY_MS = 500;
/** Statuses of responses without a body. */
const NO_BODY = new Set([204, 205, 304]);

/** Nest's Express adapter with our own server, {@link requestListener} and {@link FastLane}. */
export class ApiAdapter extends ExpressAdapter {
  private readonly connections = new Connections();
  private readonly lane: FastLane;
  private readonly listening: RequestListenerOptions;
  private isDraining = false;

  constructor(
    private readonly config: ApiConfig,
    shared: Pick<RequestListenerOptions, 'errors' | 'observers'>,
    private readonly timeouts?: ClientTimeouts,
  ) {
    const lane = new FastLane((request, response, next) => {
      prepareInput(request, response, this.listening, next);
    });
    super(lane.app);
    this.lane = lane;
    this.listening = {
      lane,
      ...shared,
      connections: this.connections,
      maxBodyBytes: config.maxBodyBytes,
      // Twice an item, which may be sent with escapes and white space.
      usualBodyBytes: 2 * config.maxItemBytes,
      crossOrigin: crossOrigin(config.corsOrigins),
      isDraining: () => this.isDraining,
    };
    lane.startWatching();
    lane.isOn = config.fastLane;
    this.set('trust proxy', config.trustProxy);
  }

  /** The current response of each connection. */
  get pendingResponses(): Connections['pendingResponses'] {
    return this.connections.pendingResponses;
  }

  /** Returns whether a handler is registered for a fixed path. */
  hasRoute(path: string): boolean {
    return this.lane.handlersOf(path) !== undefined;
  }

  /** Checks requests before their bodies are read. Call this before listening. */
  checkAccess(check: NonNullable<RequestListenerOptions['checkAccess']>): void {
    this.listening.checkAccess = check;
  }

  /** Closes each connection after its response from now on, so that clients reconnect to another instance. */
  drain(): void {
    this.isDraining = true;
  }

  override initHttpServer(): void {
    const { config, connections, listening, timeouts } = this;
    const plain = requestListener(listening);
    const listener = config.tracing ? traceRequests(plain, config) : plain;
    this.setHttpServer(createHttpServer({ listener, connections, config, timeouts }));
  }

  /** Nest's own handler would respond 404 to a wrong method. */
  override setNotFoundHandler(): void {
    this.lane.addLast((request: ApiRequest, response: ApiResponse, next: NextFunction) => {
      // Express itself responds with the methods of routes with parameters.
      if (request.method === 'OPTIONS' && this.lane.handlersOf(pathOf(request)) === undefined) next();
      else sendNoRoute(response, this.listening);
    });
  }

  override createMiddlewareFactory(
    ...method: Parameters<ExpressAdapter['createMiddlewareFactory']>
  ): ReturnType<ExpressAdapter['createMiddlewareFactory']> {
    const register = super.createMiddlewareFactory(...method);
    return (...middleware) => this.lane.asMiddleware(() => register(...middleware) as unknown);
  }

  override setErrorHandler(handler: (...args: unknown[]) => unknown): void {
    this.lane.addLast(handler);
  }

  override setOnRequestHook(...hook: Parameters<ExpressAdapter['setOnRequestHook']>): void {
    this.lane.coverAll();
    super.setOnRequestHook(...hook);
  }

  override setOnResponseHook(...hook: Parameters<ExpressAdapter['setOnResponseHook']>): void {
    this.lane.coverAll();
    super.setOnResponseHook(...hook);
  }

  override reply(response: ApiResponse, body: unknown, status?: number): void {
    // Already rejected as too slow.
    if (response.headersSent) return;
    // Nest's adapter sends neither a file as JSON, nor the properties of an error.
    const isOther = body instanceof StreamableFile || body instanceof Error;
    const isJson = typeof body === 'object' && body !== null && !isOther;
    const code = status ?? response.statusCode;
    if (isJson && !NO_BODY.has(code) && !response.hasHeader('Content-Type')) sendJson(response, code, body);
    else super.reply(response, body, status);
  }

  /** Accepts no more connections, and waits until the active ones have their responses. */
  override async close(): Promise<void> {
    const server = this.getHttpServer() as Server;
    const cutOff = setTimeout(() => {
      server.closeAllConnections();
    }, CUT_OFF_MS);
    // Node counts a connection that has never sent a request as active, and close() would wait for it.
    const closeIdleTimer = setInterval(() => {
      if (this.pendingResponses.length === 0) server.closeAllConnections();
    }, CLOSE_IDLE_EVERY_MS);
    await new Promise((resolve) => server.close(resolve));
    clearTimeout(cutOff);
    clearInterval(closeIdleTimer);
  }
}
