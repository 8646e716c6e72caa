import { Module, type DynamicModule, type Provider } from '@nestjs/common';
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
import { atMostEvery, HealthController, READINESS, provide, type Logger, type WorkerConfig } from '@app/runtime';
import { WorkerReadiness } from './readiness.js';
import { CreateItemConsumer } from './items/create-item.consumer.js';
import { CreateItemProcessor } from './items/create-item.processor.js';
import { SearchIndexer } from './items/search-indexer.js';
import { MaintenanceScheduler } from './maintenance/maintenance.scheduler.js';

/** Longer than the API's: nobody waits at the other end, and a job given back costs more than a late one. */
const WRITES = { serverSelectionMs: 4000, socketMs: 8000 };

/** Injection token of the connection on which BullMQ takes jobs. */
export const WORKER_REDIS = Symbol('WorkerRedis');

/** One line for all connections to Redis while it is away. */
const REPORT_EVERY_MS = 5000;

/** The only wiring of the worker process. */
@Module({})
export class WorkerModule {
  static with(config: WorkerConfig, logger: Logger): DynamicModule {
    const report = atMostEvery(REPORT_EVERY_MS, (line: string) => {
      logger.warn(line);
    });
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
      {
        provide: ReplyPublisher,
        useFactory: () => new ReplyPublisher(connectRedis(config.redisUrl, 'producer', report)),
      },
      {
        provide: CreateItemProcessor,
        inject: [ItemCreator, ReplyPublisher, SearchIndexer],
        useFactory: (creator: ItemCreator, replies: ReplyPublisher, indexer: SearchIndexer) =>
          new CreateItemProcessor(creator, replies, indexer, logger),
      },
      {
        provide: CreateItemConsumer,
        inject: [WORKER_REDIS, CreateItemProcessor, Database],
        useFactory: (redis: RedisConnection, processor: CreateItemProcessor, database: Database) =>
          new CreateItemConsumer(redis, config, processor, database, logger),
      },
      {
        provide: MaintenanceScheduler,
        inject: [MaintenanceRepository, SearchBackfill],
        useFactory: (items: MaintenanceRepository, search: SearchBackfill) =>
          new MaintenanceScheduler(items, search, logger),
      },
      {
        provide: READINESS,
        inject: [Database, WORKER_REDIS, CreateItemConsumer],
        useFactory: (database: Database, redis: RedisConnection, consumer: CreateItemConsumer) =>
          new WorkerReadiness(database, redis, consumer),
      },
    ];
    return { module: WorkerModule, controllers: [HealthController], providers };
  }
}
