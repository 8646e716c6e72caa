import { Module, type DynamicModule, type OnApplicationShutdown, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { Registry } from 'prom-client';
import { HealthController } from '@app/admin';
import { Database, ItemRepository, ReferenceRepository, SchemaRepository, SecretRepository } from '@app/database';
import { connectRedis, CreateQueue, ReplySubscriber } from '@app/queue';
import {
  CHECK_TIMEOUT_MS,
  provide,
  registerProcessMetrics,
  settledWithin,
  SharedReadiness,
  throttle,
  type ApiConfig,
  type Logger,
} from '@app/runtime';
import { API_CONFIG } from './api-config.js';
import { authProviders } from './auth/auth.providers.js';
import { JwtVerifier } from './auth/jwt-verifier.js';
import { DocsModule } from './docs/docs.module.js';
import { ApiReadiness, type OptionalPart } from './readiness.js';
import { CreateItemProducer } from './items/create-item.producer.js';
import { ItemsController } from './items/items.controller.js';
import { ItemsService } from './items/items.service.js';
import { MalformedItems } from './items/malformed-items.js';
import { limitsProviders } from './limits/limits.providers.js';
import { RateLimits } from './limits/rate-limits.js';
import { CreateMetrics } from './metrics/create-metrics.js';
import { registerQueueMetrics } from './metrics/queue-metrics.js';
import type { CallerAddress } from './http/headers/caller-address.js';
import { ErrorFilter } from './http/error.filter.js';
import { InputPipe } from './http/input.pipe.js';

/** A read gets its response, or a 503, within 2 s. */
const READS = { serverSelectionMs: 1500, socketMs: 5000, readMs: 1800 };

/** What exists before the module. */
export interface Shared {
  logger: Logger;
  errors: ErrorFilter;
  registry: Registry;
  callerAddress: CallerAddress;
}

/** Wires the API process. */
@Module({})
export class ApiModule implements OnApplicationShutdown {
  constructor(
    private readonly queue: CreateQueue,
    private readonly replies: ReplySubscriber,
    private readonly database: Database,
    readiness: SharedReadiness,
    registry: Registry,
  ) {
    registerQueueMetrics(registry, queue);
    registerProcessMetrics(registry, readiness, {
      mongodb: () => database.responds(CHECK_TIMEOUT_MS),
      redis: async () => (await settledWithin(CHECK_TIMEOUT_MS, queue.backlog.state())) !== undefined,
    });
  }

  static with(config: ApiConfig, shared: Shared): DynamicModule {
    const { logger, errors, registry, callerAddress } = shared;
    // While Redis is unavailable, all connections to it share one log line per interval.
    const report = throttle(logger.warn.bind(logger));
    const providers: Provider[] = [
      { provide: API_CONFIG, useValue: config },
      { provide: Database, useFactory: () => new Database({ uri: config.mongodbUri, ...READS }) },
      provide(SchemaRepository, Database),
      {
        provide: ItemRepository,
        inject: [Database, MalformedItems],
        useFactory: (database: Database, malformed: MalformedItems) => new ItemRepository(database, malformed.report),
      },
      provide(ReferenceRepository, Database),
      provide(SecretRepository, Database),
      {
        provide: CreateQueue,
        useFactory: () =>
          new CreateQueue(
            connectRedis(config.redisUrl, 'producer', report),
            config.queuePrefix,
            { total: config.backlog, seller: config.sellerBacklog },
            report,
          ),
      },
      {
        provide: ReplySubscriber,
        useFactory: () =>
          new ReplySubscriber(connectRedis(config.redisUrl, 'subscriber', report), config.queuePrefix, report),
      },
      provide(CreateMetrics, Registry),
      provide(CreateItemProducer, CreateQueue, ReplySubscriber, ItemRepository, CreateMetrics),
      {
        provide: ApiReadiness,
        inject: [
          Database,
          SchemaRepository,
          CreateQueue,
          { token: RateLimits, optional: true },
          { token: JwtVerifier, optional: true },
        ],
        useFactory: (
          database: Database,
          schema: SchemaRepository,
          queue: CreateQueue,
          limits: RateLimits | undefined,
          jwt: JwtVerifier | undefined,
        ) => new ApiReadiness(database, schema, queue, optionalParts(limits, jwt)),
      },
      provide(SharedReadiness, ApiReadiness),
      { provide: Registry, useValue: registry },
      {
        provide: MalformedItems,
        useFactory: () => new MalformedItems(registry, logger),
      },
      ItemsService,
      ...authProviders(config.auth, logger, callerAddress),
      ...limitsProviders(config, callerAddress, report),
      { provide: APP_PIPE, useClass: InputPipe },
      { provide: ErrorFilter, useValue: errors },
      { provide: APP_FILTER, useValue: errors },
    ];
    return {
      module: ApiModule,
      imports: config.docs === 'public' ? [DocsModule.with({ canTry: true })] : [],
      controllers: [ItemsController, HealthController],
      providers,
    };
  }

  /** Closes the queue before the database. Earlier hooks, such as `onModuleDestroy`, may still use both. */
  async onApplicationShutdown(): Promise<void> {
    await this.queue.close();
    this.replies.close();
    await this.database.close();
  }
}

/** Returns the parts of readiness that depend on settings. */
function optionalParts(limits: RateLimits | undefined, jwt: JwtVerifier | undefined): OptionalPart[] {
  const parts: OptionalPart[] = [];
  if (limits !== undefined)
    parts.push({
      name: 'rateLimits',
      works: () => limits.canCount(CHECK_TIMEOUT_MS),
      problem: 'Redis of rate limits is unavailable: requests cannot be counted',
    });
  if (jwt !== undefined)
    parts.push({
      name: 'tokenKeys',
      works: () => jwt.hasKeys(),
      problem: 'AUTH_JWKS_URL cannot be read: tokens are refused, unless their keys are known',
    });
  return parts;
}
