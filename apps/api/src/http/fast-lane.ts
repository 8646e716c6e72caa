import { METHODS } from 'node:http';
import express, { type Express } from 'express';
import { match } from 'path-to-regexp';
import { ApiRequest, ApiResponse } from './api-message.js';

/** Passes a request on to the next handler, or an error to the error handler. */
export type NextFunction = (error?: unknown) => void;

/** A route's handler, or a middleware. */
export type RequestHandler = (request: ApiRequest, response: ApiResponse, next: NextFunction) => unknown;

type Register = (...args: unknown[]) => unknown;

const ROUTE_METHODS = new Set(METHODS.map((method) => method.toLowerCase()));
const OTHERS = ['use', 'all', 'route', 'param'];
/** Characters of a path with parameters or wildcards (https://github.com/pillarjs/path-to-regexp). */
const PATTERN = /[:*{}()[\]?+!\\]/;

/**
 * An Express application with a fast lane before it. A request for a fixed path goes directly to its handler. If
 * middleware or a route with parameters may take part in it, Express handles the request. Express tries all routes in
 * order, which is slower.
 */
export class FastLane {
  /** Register routes and middleware here. */
  readonly app: Express;
  private readonly express = express();
  private readonly routes = new Map<string, Map<string, RequestHandler>>();
  private readonly covers: ((path: string) => boolean)[] = [];
  /** Whether requests may go directly to their handlers. */
  isOn = true;
  private isWatching = false;
  private isMiddleware = false;

  /** @param beforeRoutes runs before each route that Express handles, after its middleware */
  constructor(private readonly beforeRoutes: RequestHandler) {
    // Paths are exact: /API/orpc is not /api/orpc.
    this.express.enable('case sensitive routing').enable('strict routing').disable('x-powered-by');
    const app = { value: this.express, writable: true, configurable: true };
    Object.assign(this.express, {
      request: Object.create(ApiRequest.prototype, { app }) as object,
      response: Object.create(ApiResponse.prototype, { app }) as object,
    });
    this.app = this.watch();
  }

  /** Starts to notice registrations. The hook that Nest's adapter registers before does nothing unless it is set. */
  startWatching(): void {
    this.isWatching = true;
  }

  /** Has Express handle every request, because something may take part in it. */
  coverAll(): void {
    this.covers.push(() => true);
  }

  /** Returns whether a middleware or a route with parameters may take part in requests for this path. */
  isCovered(path: string): boolean {
    return this.covers.some((covers) => covers(path));
  }

  /** Returns the handlers of a fixed path, by method. */
  handlersOf(path: string): ReadonlyMap<string, RequestHandler> | undefined {
    return this.routes.get(path);
  }

  /** Sets what Express would set before it calls a handler. */
  prepare(request: ApiRequest, response: ApiResponse, path: string, next: NextFunction): void {
    request.app = response.app = this.express;
    request.res = response;
    request.next = next;
    request.originalUrl = request.url;
    request.baseUrl = '';
    request.params = {};
    request.route = { path };
    response.locals = {};
  }

  /** Has Express handle a request. `last` is called if no route or middleware does. */
  handle(request: ApiRequest, response: ApiResponse, last: NextFunction): void {
    // Express sets prototypes that contain this application, or a mounted one.
    delete request.app;
    delete response.app;
    (this.express as unknown as RequestHandler)(request, response, last);
  }

  /** Adds a handler after all routes. It does not affect the fast lane. */
  addLast(handler: Register | RequestHandler): void {
    this.express.use(handler as express.RequestHandler);
  }

  /** Runs `register`. Whatever it registers counts as middleware, even if it calls a route method. */
  asMiddleware<T>(register: () => T): T {
    this.isMiddleware = true;
    try {
      return register();
    } finally {
      this.isMiddleware = false;
    }
  }

  /** Returns the application, wrapped so that each registration is noticed. */
  private watch(): Express {
    const registers = new Map<string | symbol, Register>();
    for (const name of [...ROUTE_METHODS, ...OTHERS]) {
      const original = Reflect.get(this.express, name) as Register | undefined;
      if (original !== undefined) registers.set(name, (...args) => this.register(name, original, args));
    }
    return new Proxy(this.express, {
      get: (target, name) => registers.get(name) ?? (Reflect.get(target, name) as unknown),
    });
  }

  private register(name: string, original: Register, args: unknown[]): unknown {
    const [path, ...handlers] = args;
    const call = (...more: unknown[]): unknown => {
      const result: unknown = Reflect.apply(original, this.express, more);
      return result === this.express ? this.app : result;
    };
    // With one argument `get` returns a setting.
    if (name === 'get' && handlers.length === 0) return call(...args);
    const isRoute = (name === 'all' || ROUTE_METHODS.has(name)) && !this.isMiddleware;
    const [handler] = handlers as RequestHandler[];
    if (isRoute && name !== 'all' && isFixed(path) && handlers.length === 1 && typeof handler === 'function') {
      this.addRoute(name.toUpperCase(), path, handler);
      return call(path, this.beforeRoutes, unlessCalled(handler));
    }
    const result = isRoute ? call(path, this.beforeRoutes, ...handlers) : call(...args);
    this.cover(typeof path === 'function' ? '/' : path, name === 'use');
    return result;
  }

  private addRoute(method: string, path: string, handler: RequestHandler): void {
    const handlers = this.routes.get(path) ?? new Map<string, RequestHandler>();
    this.routes.set(path, handlers);
    // Express tries the first one first.
    for (const each of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
      if (!handlers.has(each)) handlers.set(each, handler);
    }
  }

  private cover(path: unknown, isPrefix: boolean): void {
    if (!this.isWatching) return;
    for (const each of [path].flat()) {
      // Express ignores a slash at the end of a prefix.
      const pattern: unknown = isPrefix && typeof each === 'string' ? each.replace(/\/+$/, '') : each;
      if (typeof pattern !== 'string' || pattern === '') this.coverAll();
      else {
        const matches = match(pattern, { end: !isPrefix, decode: false });
        this.covers.push((requested) => matches(requested) !== false);
      }
    }
  }
}

function isFixed(path: unknown): path is string {
  return typeof path === 'string' && !PATTERN.test(path);
}

/** Returns a handler that passes a request on if the lane has called the handler for it before. */
function unlessCalled(handler: RequestHandler): RequestHandler {
  return (request, response, next) => {
    if (request.calledHandler !== handler) return handler(request, response, next);
    next(request.passedError);
    return undefined;
  };
}
