import { Inject, Module, type DynamicModule, type OnApplicationShutdown, type Provider } from '@nestjs/common';
import { Registry } from 'prom-client';
import {
  CounterRepository,
  Database,
  ItemRepository,
  MaintenanceRepository,
  ReferenceRepository,
  SchemaRepository,
} from '@app/database';
import { ItemCreator, SearchBackfill } from '@app/items';
import { connectRedis, ReplyPublisher, type RedisConnection } from '@app/queue';
import {
  CHECK_TIMEOUT_MS,
  provide,
  registerProcessMetrics,
  SharedReadiness,
  throttle,
  type Logger,
  type WorkerConfig,
} from '@app/runtime';
import { WorkerReadiness } from './readiness.js';
import { BatchMetrics } from './items/batch-metrics.js';
import { CreateItemConsumer } from './items/create-item.consumer.js';
import { CreateItemProcessor } from './items/create-item.processor.js';
import { SearchIndexer } from './items/search-indexer.js';
import { MaintenanceScheduler } from './maintenance/maintenance.scheduler.js';

/** Longer than the API's, because returning a job to the queue costs more than a delay. */
const WRITES = { serverSelectionMs: 4000, socketMs: 8000 };

/** Injection token of the connection on which BullMQ takes jobs. */
const WORKER_REDIS = Symbol('WorkerRedis');
const WORKER_CONFIG = Symbol('WorkerConfig');
const LOGGER = Symbol('Logger');

/** Wires the worker process. */
@Module({})
export class WorkerModule implements OnApplicationShutdown {
  constructor(
    @Inject(WORKER_REDIS) private readonly redis: RedisConnection,
    private readonly database: Database,
    consumer: CreateItemConsumer,
    readiness: SharedReadiness,
    registry: Registry,
  ) {
    registerProcessMetrics(registry, readiness, {
      mongodb: () => database.responds(CHECK_TIMEOUT_MS),
      redis: () => consumer.redisResponds(CHECK_TIMEOUT_MS),
    });
  }

  static with(config: WorkerConfig, logger: Logger): DynamicModule {
    // While Redis is unavailable, all connections to it share one log line per interval.
    const report = throttle(logger.warn.bind(logger));
    const providers: Provider[] = [
      { provide: Database, useFactory: () => new Database({ uri: config.mongodbUri, ...WRITES }) },
      { provide: WORKER_REDIS, useFactory: () => connectRedis(config.redisUrl, 'worker', report) },
      provide(SchemaRepository, Database),
      provide(ItemRepository, Database),
      provide(ReferenceRepository, Database),
      provide(CounterRepository, Database),
      provide(MaintenanceRepository, Database),
      provide(ItemCreator, ItemRepository, ReferenceRepository, CounterRepository),
      provide(SearchBackfill, MaintenanceRepository),
      provide(SearchIndexer, SearchBackfill),
      // On this connection, because it follows a failover: a replica accepts PUBLISH, but not what BullMQ sends.
      {
        provide: ReplyPublisher,
        useFactory: (redis: RedisConnection) => new ReplyPublisher(redis, report),
        inject: [WORKER_REDIS],
      },
      { provide: LOGGER, useValue: logger },
      { provide: WORKER_CONFIG, useValue: config },
      provide(CreateItemProcessor, ItemCreator, ReplyPublisher, SearchIndexer, LOGGER),
      provide(BatchMetrics, Registry),
      provide(CreateItemConsumer, WORKER_REDIS, WORKER_CONFIG, CreateItemProcessor, Database, LOGGER, BatchMetrics),
      provide(MaintenanceScheduler, MaintenanceRepository, SearchBackfill, LOGGER),
      provide(WorkerReadiness, Database, CreateItemConsumer),
      provide(SharedReadiness, WorkerReadiness),
      { provide: Registry, useFactory: () => new Registry() },
    ];
    return { module: WorkerModule, providers };
  }

  /** Closes Redis before the database. Earlier hooks, such as `onModuleDestroy`, may still use both. */
  async onApplicationShutdown(): Promise<void> {
    this.redis.disconnect();
    await this.database.close();
  }
}
