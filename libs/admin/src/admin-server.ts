import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Module, ServiceUnavailableException, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { Registry } from 'prom-client';
import { connectRedis, FailedJobs, redisResponds, type RedisConnection } from '@app/queue';
import {
  CHECK_TIMEOUT_MS,
  CONTENT_SECURITY_POLICY,
  nestLogger,
  settledWithin,
  SharedReadiness,
  throttle,
  type AdminTokens,
  type Logger,
  type QueueConfig,
} from '@app/runtime';
import { requireLoopback, requireSameOrigin, requireToken } from './access.js';
import { HealthController } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';

const QUEUES = '/queues';
/** How long the first visitor waits for a connection to Redis. */
const CONNECT_WITHIN_MS = 2000;

/** What the endpoints for operators need from their process. */
export interface AdminOptions {
  host: string;
  /** 0 means any free port. */
  port: number;
  config: AdminTokens & QueueConfig;
  readiness: SharedReadiness;
  registry: Registry;
  logger: Logger;
  /** Modules with more endpoints, which are open. */
  imports?: DynamicModule[];
}

/** A running server of the endpoints for operators. */
export interface AdminServer {
  port: number;
  close: () => Promise<void>;
}

@Module({})
class AdminModule {}

/**
 * Serves `/health/*`, `/metrics` and `/queues`. `/metrics` requires the metrics token, if there is one. `/queues` requires
 * the admin token or, without one, accepts requests from this machine only.
 *
 * @throws an error for which `cannotListen` returns true if the port cannot be used
 */
export async function startAdmin(options: AdminOptions): Promise<AdminServer> {
  const { config, host, port, logger } = options;
  const { adminToken, metricsToken } = config;
  const app = await NestFactory.create<NestExpressApplication>(moduleOf(options), {
    logger: nestLogger(logger),
    abortOnError: false,
    bodyParser: false,
    forceCloseConnections: true,
  });
  const queues = new LazyQueueDashboard(config, logger);
  app.use(SECURITY_HEADERS, noStore);
  if (metricsToken !== undefined) app.use('/metrics', requireToken(metricsToken));
  app.use(QUEUES, adminToken === undefined ? requireLoopback : requireToken(adminToken), requireSameOrigin);
  app.use(QUEUES, queues.handle);
  await app.init();
  // Unlike `app.listen`, logs no error: the caller decides what a port that is taken means.
  const server = app.getHttpServer().listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      await app.close();
      await queues.close();
    },
  };
}

function moduleOf({ imports = [], readiness, registry }: AdminOptions): DynamicModule {
  return {
    module: AdminModule,
    imports,
    controllers: [HealthController, MetricsController],
    providers: [
      { provide: SharedReadiness, useValue: readiness },
      { provide: Registry, useValue: registry },
    ],
  };
}

/** The queue dashboard. Loads its modules, and connects to Redis, when it is first opened. */
class LazyQueueDashboard {
  private opening: Promise<{ redis: RedisConnection; jobs: FailedJobs; dashboard: RequestHandler }> | undefined;

  constructor(
    private readonly config: QueueConfig,
    private readonly logger: Logger,
  ) {}

  readonly handle: RequestHandler = async (request, response, next) => {
    const { redis, dashboard } = await (this.opening ??= this.open());
    if (redis.status !== 'ready') await settledWithin(CONNECT_WITHIN_MS, once(redis, 'ready'));
    if (!(await redisResponds(redis, CHECK_TIMEOUT_MS))) throw new ServiceUnavailableException('Redis is unavailable');
    await dashboard(request, response, next);
  };

  async close(): Promise<void> {
    await (await this.opening)?.jobs.close();
  }

  private async open() {
    const { queueDashboard } = await import('./queue-dashboard.js');
    const redis = connectRedis(this.config.redisUrl, 'producer', throttle(this.logger.warn.bind(this.logger)));
    const jobs = new FailedJobs(redis, this.config.queuePrefix);
    return { redis, jobs, dashboard: queueDashboard(jobs, QUEUES) };
  }
}

/** bull-board asks for fonts of another host, which are blocked. */
const SECURITY_HEADERS = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    // The page of bull-board sets its own base.
    directives: { ...CONTENT_SECURITY_POLICY, baseUri: ["'self'"] },
  },
  strictTransportSecurity: false,
});

const noStore: RequestHandler = (_request, response, next) => {
  response.setHeader('Cache-Control', 'no-store');
  next();
};
