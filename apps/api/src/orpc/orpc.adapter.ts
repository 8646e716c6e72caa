import type { Server } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { ApiConfig } from '@app/runtime';
import { answer, type ApiResponse } from './answer.js';
import { Connections } from './connections.js';
import { crossOrigin } from './cross-origin.js';
import type { ErrorFilter } from './error.filter.js';
import { frontDoor, type FrontDoorOptions } from './front-door.js';
import { createHttpServer, type Patience } from './http-server.js';

/** Since closing began: creates have been answered by then; who is left does not send, or does not read. */
const CUT_OFF_MS = 7000;

/** Nest's host with our own way in, {@link frontDoor}, and our own way out, {@link answer}. */
export class OrpcAdapter extends ExpressAdapter {
  private isDraining = false;

  constructor(
    private readonly config: ApiConfig,
    private readonly errors: ErrorFilter,
    private readonly patience: Patience | undefined,
  ) {
    super();
    this.disable('x-powered-by');
    this.set('trust proxy', config.trustProxy);
  }

  /** From now on each answer closes its connection: clients connect anew, to another instance. */
  drain(): void {
    this.isDraining = true;
  }

  override initHttpServer(): void {
    const { config, errors, patience } = this;
    const connections = new Connections();
    const listener = frontDoor({
      connections,
      errors,
      maxBodyBytes: config.maxBodyBytes,
      crossOrigin: crossOrigin(config.corsOrigins),
      isDraining: () => this.isDraining,
      routes: () => this.routes(),
      next: this.getInstance<FrontDoorOptions['next']>(),
    });
    this.httpServer = createHttpServer({ listener, connections, config, patience });
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
