import { setTimeout as delay } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Registry } from 'prom-client';
import { startAdmin, type AdminServer } from '@app/admin';
import { checkMongodbUri, Database, SchemaRepository } from '@app/database';
import { parseRedisUrl } from '@app/queue';
import {
  exitWhenFlushed,
  nestLogger,
  SharedReadiness,
  throttle,
  type Logger,
  type Stoppable,
  type WorkerConfig,
} from '@app/runtime';
import { CreateItemConsumer } from './items/create-item.consumer.js';
import { SearchIndexer } from './items/search-indexer.js';
import { MaintenanceScheduler } from './maintenance/maintenance.scheduler.js';
import { WorkerModule } from './worker.module.js';

/** A running worker. */
export interface WorkerApp extends Stoppable {
  /** The port of the endpoints for operators. */
  port: number;
}

/** Jobs that have not completed this long after the stop signal return to the queue. */
const GRACE_MS = 8000;
/** Items that are not indexed by then are indexed half a minute later, by other workers. */
const INDEX_WITHIN_MS = 1000;
const LOOK_FOR_INDEXES_EVERY_MS = 1000;

/**
 * Boots the worker. MongoDB and Redis may be unavailable: it takes jobs once both are available and the unique indexes,
 * which prevent duplicate items, exist.
 */
export async function createApp(config: WorkerConfig, logger: Logger): Promise<WorkerApp> {
  checkMongodbUri(config.mongodbUri);
  parseRedisUrl(config.redisUrl);
  const app = await NestFactory.createApplicationContext(WorkerModule.with(config, logger), {
    logger: nestLogger(logger),
    abortOnError: false,
  });
  const [readiness, registry] = [app.get(SharedReadiness), app.get<Registry>(Registry)];
  const admin = await startAdmin({ ...config, config, readiness, registry, logger });
  logger.info({ port: admin.port }, 'listening');

  const stopping = new AbortController();
  void consume(app, logger, stopping.signal);
  const stop = (): Promise<void> => {
    stopping.abort();
    return shutDown(app, admin);
  };
  return { port: admin.port, stop };
}

async function consume(app: INestApplicationContext, logger: Logger, stopping: AbortSignal): Promise<void> {
  await app.get(Database).connect(logger.warn.bind(logger));
  const schema = app.get(SchemaRepository);
  const report = throttle((indexes: string[]) => {
    logger.warn({ indexes }, 'unique indexes missing, run setup; taking no jobs');
  });
  for (;;) {
    const missing = await schema.missingIndexes().catch(() => null);
    if (stopping.aborted) return;
    if (missing?.unique.length === 0) break;
    if (missing !== null) report(missing.unique);
    await delay(LOOK_FOR_INDEXES_EVERY_MS, undefined, { signal: stopping }).catch(() => undefined);
  }
  // Not a graceful stop, which could hang as well. Other workers, or the restarted process, take over the jobs.
  app.get(CreateItemConsumer).start(() => {
    exitWhenFlushed(logger, 1);
  });
  app.get(MaintenanceScheduler).start();
  logger.info('taking jobs');
}

/** Completes the current jobs or returns them to the queue, then closes the application. */
async function shutDown(app: INestApplicationContext, admin: AdminServer): Promise<void> {
  await Promise.all([app.get(CreateItemConsumer).stop(GRACE_MS), app.get(MaintenanceScheduler).stop()]);
  await app.get(SearchIndexer).stop(INDEX_WITHIN_MS);
  await admin.close();
  // Runs Nest's lifecycle hooks, after the last job.
  await app.close();
}
