import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { checkMongodbUri, Database } from '@app/database';
import { parseRedisUrl, CreateQueue, ReplySubscriber } from '@app/queue';
import { nestLogger, type ApiConfig, type Logger, type Stoppable } from '@app/runtime';
import { ApiModule } from './api.module.js';
import { ApiReadiness } from './readiness.js';
import { CreateItemGateway } from './items/create-item.gateway.js';
import { callerAddress } from './http/caller-address.js';
import { ErrorFilter } from './http/error.filter.js';
import type { ClientTimeouts } from './http/server.js';
import { ApiAdapter } from './http/api.adapter.js';

/** A running API. */
export interface Api extends Stoppable {
  /** The port it listens on. */
  port: number;
}

/** A process that listens earlier answers 503 to requests that another instance would have served. */
const CONNECT_WITHIN_MS = 2000;
/** Load balancers need a moment to see that the process is not ready any more; it serves until then. */
const DRAIN_MS = 500;
/** Since the signal: creates that still wait get their answer now. */
const ABANDON_AFTER_MS = 7000;
const HANG_UP_EVERY_MS = 500;

/**
 * Boots the API and listens, after both stores have been connected or {@link CONNECT_WITHIN_MS}. MongoDB and Redis may be
 * away: the process connects when they come, and is ready from then on. `timeouts` is for tests of slow clients.
 */
export async function createApp(config: ApiConfig, logger: Logger, timeouts?: ClientTimeouts): Promise<Api> {
  checkMongodbUri(config.mongodbUri);
  parseRedisUrl(config.redisUrl);
  const errors = new ErrorFilter(logger, callerAddress(config.trustProxy));
  const adapter = new ApiAdapter(config, errors, timeouts);
  const app = await NestFactory.create(ApiModule.with(config, logger, errors), adapter, {
    bodyParser: false,
    logger: nestLogger(logger),
    abortOnError: false,
  });
  const connecting = app.get(Database).connect((line) => {
    logger.warn(line);
  });
  const connected = Promise.all([connecting, app.get(CreateQueue).waitUntilReady()]);
  await Promise.race([connected, delay(CONNECT_WITHIN_MS, undefined, { ref: false })]);
  await app.listen(config.port, config.host);
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  logger.info({ port }, 'listening');
  const stop = (): Promise<void> => {
    adapter.drain();
    // These came before the adapter began to ask clients to connect anew, and are answered after.
    for (const response of adapter.unanswered) if (!response.headersSent) response.setHeader('Connection', 'close');
    return shutDown(app, adapter);
  };
  return { port, logger, stop };
}

/** Finishes what is in hand, then lets go of the queue before the database. */
async function shutDown(app: INestApplication, adapter: ApiAdapter): Promise<void> {
  app.get(ApiReadiness).drain();
  const gateway = app.get(CreateItemGateway);
  const abandoning = setTimeout(() => {
    gateway.abandon();
  }, ABANDON_AFTER_MS);
  await delay(DRAIN_MS);
  // A connection on which nothing was ever asked counts as busy with Node, and would be waited for.
  const hangingUp = setInterval(() => {
    if (adapter.unanswered.length === 0) (app.getHttpServer() as Server).closeAllConnections();
  }, HANG_UP_EVERY_MS);
  await adapter.close();
  clearInterval(hangingUp);
  clearTimeout(abandoning);
  gateway.close();
  await app.get(CreateQueue).close();
  app.get(ReplySubscriber).close();
  await app.get(Database).close();
}
