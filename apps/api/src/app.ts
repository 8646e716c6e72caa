import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Registry } from 'prom-client';
import { startAdmin, type AdminServer } from '@app/admin';
import { checkMongodbUri, Database } from '@app/database';
import { parseRedisUrl, CreateQueue } from '@app/queue';
import { cannotListen, nestLogger, SharedReadiness, type ApiConfig, type Logger, type Stoppable } from '@app/runtime';
import { ApiModule } from './api.module.js';
import { DocsModule } from './docs/docs.module.js';
import { ApiReadiness } from './readiness.js';
import { CreateItemProducer } from './items/create-item.producer.js';
import { Authorizer } from './auth/authorizer.js';
import { AccessLog } from './http/access-log.js';
import { callerAddress } from './http/headers/caller-address.js';
import { ErrorFilter } from './http/error.filter.js';
import { OPERATION_PATHS, operationOf } from './http/operation.js';
import type { ClientTimeouts } from './http/connections/server.js';
import { ApiAdapter } from './http/api.adapter.js';
import { RateLimits } from './limits/rate-limits.js';
import { RequestMetrics } from './metrics/request-metrics.js';

/** A running API. */
export interface Api extends Stoppable {
  /** The port it listens on. */
  port: number;
  /** The port of the endpoints for operators. Undefined if it could not be used. */
  adminPort: number | undefined;
}

/** How long to wait for the stores. A process that listens too early responds 503 in place of other instances. */
const CONNECT_WITHIN_MS = 2000;
/** Keeps serving until load balancers have noticed that the process is no longer ready. */
const DRAIN_MS = 500;
/** Counted from the stop signal. Creates that are still waiting get their response then. */
const ABANDON_AFTER_MS = 7000;

/**
 * Boots the API. Listens once both stores are connected, or after {@link CONNECT_WITHIN_MS}. MongoDB and Redis may be
 * unavailable: the process connects when they are back. `timeouts` is for tests of slow clients.
 */
export async function createApp(config: ApiConfig, logger: Logger, timeouts?: ClientTimeouts): Promise<Api> {
  checkMongodbUri(config.mongodbUri);
  parseRedisUrl(config.redisUrl);
  if (config.limits !== undefined) parseRedisUrl(config.limits.redisUrl, 'RATE_LIMIT_REDIS_URL');
  const callerOf = callerAddress(config.trustProxy);
  const errors = new ErrorFilter(logger, callerOf);
  const registry = new Registry();
  const observers = [new RequestMetrics(registry), ...(config.logAccess ? [new AccessLog(logger, callerOf)] : [])];
  const adapter = new ApiAdapter(config, { errors, observers }, timeouts);
  const app = await NestFactory.create(
    ApiModule.with(config, { logger, errors, registry, callerAddress: callerOf }),
    adapter,
    {
      bodyParser: false,
      logger: nestLogger(logger),
      abortOnError: false,
    },
  );
  const limits = config.limits && app.get(RateLimits);
  checkBeforeBody(adapter, config.auth && app.get(Authorizer), limits);
  await app.init();
  // Authentication, limits and metrics know the operations by their paths.
  const moved = OPERATION_PATHS.find((path) => !adapter.hasRoute(path));
  if (moved !== undefined) {
    await app.close();
    throw new Error(`No handler serves ${moved}: the paths of the operations are fixed`);
  }
  const admin = await startApiAdmin(app, config, logger);
  const connecting = app.get(Database).connect(logger.warn.bind(logger));
  const connected = Promise.all([connecting, app.get(CreateQueue).waitUntilReady(), limits?.waitUntilReady()]);
  await Promise.race([connected, delay(CONNECT_WITHIN_MS, undefined, { ref: false })]);
  await app.listen(config.port, config.host);
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  logger.info({ port }, 'listening');
  const stop = (): Promise<void> => {
    adapter.drain();
    // These requests began before draining, so their responses do not close the connection yet.
    for (const response of adapter.pendingResponses)
      if (!response.headersSent) response.setHeader('Connection', 'close');
    return shutDown(app, adapter, admin);
  };
  return { port, adminPort: admin?.port, stop };
}

/**
 * Rejects callers before the bodies of their requests are read. Only the guard protects handlers other than those of
 * the operations.
 */
function checkBeforeBody(
  adapter: ApiAdapter,
  authorizer: Authorizer | undefined,
  limits: RateLimits | undefined,
): void {
  if (authorizer === undefined && limits === undefined) return;
  adapter.checkAccess(async (response) => {
    const { req: request } = response;
    const operation = operationOf(request.url ?? '');
    if (operation === undefined) return;
    await authorizer?.check(request, operation === 'create' ? 'create' : 'read');
    await limits?.check(operation, response);
  });
}

/** The API serves its clients without these endpoints too, for example if another API on this machine has their port. */
async function startApiAdmin(
  app: INestApplication,
  config: ApiConfig,
  logger: Logger,
): Promise<AdminServer | undefined> {
  const { adminHost: host, adminPort } = config;
  const [readiness, registry] = [app.get(SharedReadiness), app.get<Registry>(Registry)];
  // The operations are on another port, so the page cannot send requests to them.
  const imports = config.docs === 'admin' ? [DocsModule.with({ canTry: false })] : [];
  try {
    const admin = await startAdmin({ host, port: adminPort, config, imports, readiness, registry, logger });
    logger.info({ host, port: admin.port }, 'listening for operators');
    return admin;
  } catch (error) {
    if (!cannotListen(error)) throw error;
    logger.warn({ err: error }, 'ADMIN_HOST or ADMIN_PORT cannot be used: metrics and queues are not served');
    return undefined;
  }
}

/** Finishes the requests in progress, then closes the application. */
async function shutDown(app: INestApplication, adapter: ApiAdapter, admin: AdminServer | undefined): Promise<void> {
  app.get(ApiReadiness).drain();
  const producer = app.get(CreateItemProducer);
  const abandonTimer = setTimeout(() => {
    producer.abandon();
  }, ABANDON_AFTER_MS);
  await delay(DRAIN_MS);
  await adapter.close();
  clearTimeout(abandonTimer);
  await admin?.close();
  // Runs Nest's lifecycle hooks, after the last response.
  await app.close();
}
